//! What one call of a C compiler asks for.
//!
//! In: the words of its command line. Out: an [`Invocation`]: which step it stops at, its inputs, its
//! output and the dependency file it writes. As gcc and clang read them; nothing is run or opened but
//! response files.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::capture::command::{
    RESPONSE_DEPTH, begins, expand_response_files, has, is_cxx_compiler, skip_launchers,
    takes_value,
};

/// Where a compiler stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Preprocesses, checks, or only tells something.
    Nothing,
    /// `-S`
    Assembly,
    /// `-c`
    Object,
    /// A program, a library, or a relocatable object.
    Link,
}

/// What an input is to the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    C,
    Cxx,
    /// Compiled beforehand, for other compilations.
    Header,
    /// Assembler, Fortran, …
    OtherSource,
    /// An object, an archive, a library.
    Linked,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    pub kind: Kind,
    /// Its place in [`Invocation::arguments`].
    pub index: usize,
}

/// The dependency file of `-MD`, `-MMD` and `-Wp,-MMD,FILE`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependencies {
    /// By default beside the output.
    pub file: Option<PathBuf>,
    /// Targets as they are to be written; by default the output.
    pub targets: Vec<Vec<u8>>,
}

/// A call of a C compiler, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// The compiler behind any launchers, as named.
    pub compiler: OsString,
    /// The words after it, response files expanded.
    pub arguments: Vec<OsString>,
    pub step: Step,
    pub inputs: Vec<Input>,
    pub output: Option<PathBuf>,
    pub dependencies: Option<Dependencies>,
}

/// Flags after which nothing is compiled.
const NOTHING: &[&str] = &[
    "-E",
    "-M",
    "-MM",
    "-fsyntax-only",
    "-###",
    "--version",
    "--help",
];

impl Invocation {
    /// Takes a command line apart; `None` if it names no compiler.
    pub fn parse(words: &[OsString], directory: &Path) -> Option<Invocation> {
        let (compiler, arguments) = skip_launchers(words).split_first()?;
        let arguments = arguments.to_vec();
        let mut unread = Vec::new();
        let arguments = expand_response_files(arguments, directory, RESPONSE_DEPTH, &mut unread);
        let mut call = Invocation {
            compiler: compiler.clone(),
            arguments: Vec::new(),
            step: Step::Link,
            inputs: Vec::new(),
            output: None,
            dependencies: None,
        };
        let mut make = Make::default();
        let mut language: Option<&[u8]> = None;
        let mut index = 0;
        while let Some(word) = arguments.get(index) {
            let at = index;
            let bytes = word.as_bytes();
            let value = if takes_value(bytes) {
                index += 1;
                arguments.get(index).map(OsString::as_os_str)
            } else {
                None
            };
            index += 1;
            if bytes == b"-" || !bytes.starts_with(b"-") {
                let kind = kind(word, language, compiler);
                call.inputs.push(Input { kind, index: at });
                continue;
            }
            match bytes {
                _ if has(NOTHING, bytes) => call.step = Step::Nothing,
                b"-S" => call.stop_at(Step::Assembly),
                b"-c" => call.stop_at(Step::Object),
                b"-x" => language = value.map(OsStr::as_bytes),
                b"-o" | b"--output" => call.output = value.map(PathBuf::from),
                _ => {
                    if let Some(joined) = bytes.strip_prefix(b"-x") {
                        language = Some(joined);
                    } else if let Some(joined) = bytes.strip_prefix(b"-o") {
                        call.output = Some(OsStr::from_bytes(joined).into());
                    } else if let Some(passed) = bytes.strip_prefix(b"-Wp,") {
                        make.passed(passed);
                    } else {
                        make.flag(bytes, value.map(OsStr::as_bytes));
                    }
                }
            }
            if language == Some(b"none") {
                language = None;
            }
        }
        if call.inputs.iter().any(|input| input.kind == Kind::Header) {
            call.step = Step::Nothing;
        }
        call.dependencies = make.wanted.then_some(make.dependencies);
        call.arguments = arguments;
        Some(call)
    }

    /// Of several steps, the earliest is where the compiler stops.
    fn stop_at(&mut self, step: Step) {
        let rank = |step| match step {
            Step::Nothing => 0,
            Step::Assembly => 1,
            Step::Object => 2,
            Step::Link => 3,
        };
        if rank(step) < rank(self.step) {
            self.step = step;
        }
    }

    /// An input as the command spells it.
    pub fn spelling(&self, input: &Input) -> &OsStr {
        &self.arguments[input.index]
    }

    /// The C files that the call compiles.
    pub fn sources(&self) -> impl Iterator<Item = &Input> {
        let compiles = self.step != Step::Nothing;
        self.inputs
            .iter()
            .filter(move |input| compiles && input.kind == Kind::C)
    }

    /// The C and C++ files that the call compiles.
    pub fn compiled(&self) -> impl Iterator<Item = &Input> {
        let compiles = self.step != Step::Nothing;
        self.inputs
            .iter()
            .filter(move |input| compiles && matches!(input.kind, Kind::C | Kind::Cxx))
    }

    /// The arguments without the other inputs that the call compiles or links beside this one.
    pub fn arguments_for(&self, source: &Input) -> Vec<OsString> {
        let other = |index: usize| {
            index != source.index
                && self
                    .inputs
                    .iter()
                    .any(|input| input.index == index && input.kind != Kind::Linked)
        };
        let words = self.arguments.iter().enumerate();
        words
            .filter(|(index, _)| !other(*index))
            .map(|(_, word)| word.clone())
            .collect()
    }

    /// Where the object of `source` goes, relative to the call's folder.
    pub fn object(&self, source: &Input) -> PathBuf {
        self.output.clone().unwrap_or_else(|| {
            let name = Path::new(self.spelling(source)).file_name();
            Path::new(name.unwrap_or_default()).with_extension("o")
        })
    }

    /// The file that is made of `source` alone, relative to the call's folder.
    pub fn made(&self, source: &Input) -> Option<PathBuf> {
        match self.step {
            Step::Object => Some(self.object(source)),
            Step::Assembly if self.output.is_none() => {
                Some(self.object(source).with_extension("s"))
            }
            Step::Assembly => self.output.clone(),
            Step::Nothing | Step::Link => None,
        }
    }

    /// The flags that say for which machine, and in which model of it, code is made.
    pub fn machine_flags(&self) -> Vec<OsString> {
        let mut flags = Vec::new();
        let mut words = self.arguments.iter();
        while let Some(word) = words.next() {
            let bytes = word.as_bytes();
            if has(&["-target", "-arch", "-B", "--sysroot"], bytes) {
                flags.push(word.clone());
                flags.extend(words.next().cloned());
            } else if takes_value(bytes) {
                words.next();
            } else if is_machine_flag(bytes) {
                flags.push(word.clone());
            }
        }
        flags
    }
}

/// Whether a flag says for which machine, or in which model of it, code is made.
pub fn is_machine_flag(flag: &[u8]) -> bool {
    const BEGINNINGS: &[&str] = &["-m", "--target=", "-target=", "-EL", "-EB", "-B"];
    const WHOLE: &[&str] = &[
        "-fpic", "-fPIC", "-fpie", "-fPIE", "-fno-pic", "-fno-PIC", "-fno-pie", "-fno-PIE",
    ];
    begins(BEGINNINGS, flag) || has(WHOLE, flag)
}

/// What an input is, by the `-x` before it or else its name.
fn kind(word: &OsStr, language: Option<&[u8]>, compiler: &OsStr) -> Kind {
    match language {
        Some(b"c" | b"cpp-output") => return Kind::C,
        Some(b"c++" | b"c++-cpp-output") => return Kind::Cxx,
        Some(language) if language.ends_with(b"-header") => return Kind::Header,
        Some(_) => return Kind::OtherSource,
        None => {}
    }
    let extension = Path::new(word)
        .extension()
        .map_or(&b""[..], OsStr::as_bytes);
    match extension {
        b"c" | b"i" if !is_cxx_compiler(compiler) => Kind::C,
        b"c" | b"i" | b"ii" | b"cc" | b"cp" | b"cxx" | b"cpp" | b"CPP" | b"c++" | b"C" => Kind::Cxx,
        b"h" | b"hh" | b"H" | b"hp" | b"hxx" | b"hpp" | b"HPP" | b"h++" | b"tcc" => Kind::Header,
        b"m" | b"mi" | b"mm" | b"M" | b"mii" | b"s" | b"S" | b"sx" | b"f" | b"f77" | b"f90"
        | b"f95" | b"f03" | b"f08" | b"for" | b"F" | b"F77" | b"F90" | b"F95" | b"go" | b"d"
        | b"adb" | b"ads" | b"rs" => Kind::OtherSource,
        _ if word == "-" => Kind::OtherSource,
        _ => Kind::Linked,
    }
}

/// Collects the flags about dependency files.
#[derive(Default)]
struct Make {
    wanted: bool,
    dependencies: Dependencies,
}

impl Make {
    fn flag(&mut self, flag: &[u8], value: Option<&[u8]>) {
        match flag {
            b"-MD" | b"-MMD" => self.wanted = true,
            b"-MF" => self.file(value),
            b"-MT" => self.dependencies.targets.extend(value.map(<[u8]>::to_vec)),
            b"-MQ" => self.dependencies.targets.extend(value.map(quoted)),
            _ => {
                if let Some(joined) = flag.strip_prefix(b"-MF") {
                    self.file(Some(joined));
                } else if let Some(joined) = flag.strip_prefix(b"-MT") {
                    self.dependencies.targets.push(joined.to_vec());
                } else if let Some(joined) = flag.strip_prefix(b"-MQ") {
                    self.dependencies.targets.push(quoted(joined));
                }
            }
        }
    }

    fn file(&mut self, file: Option<&[u8]>) {
        self.dependencies.file = file.map(|file| OsStr::from_bytes(file).into());
    }

    /// The options of `-Wp,A,B`, where `-MD` and `-MMD` name their file.
    fn passed(&mut self, passed: &[u8]) {
        let mut options = passed.split(|&byte| byte == b',').peekable();
        while let Some(option) = options.next() {
            let value = match option {
                b"-MD" | b"-MMD" | b"-MF" | b"-MT" | b"-MQ" => {
                    options.next_if(|next| !next.starts_with(b"-"))
                }
                _ => None,
            };
            self.flag(option, value);
            if matches!(option, b"-MD" | b"-MMD") && value.is_some() {
                self.file(value);
            }
        }
    }
}

/// A file's name as a target of make's.
pub fn quoted(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    for &byte in name {
        match byte {
            b'$' => out.push(b'$'),
            b' ' | b'\t' | b'#' => out.push(b'\\'),
            _ => {}
        }
        out.push(byte);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Invocation {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        Invocation::parse(&words, Path::new("/w")).unwrap()
    }

    fn sources(line: &str) -> Vec<String> {
        let call = parsed(line);
        let names = call
            .sources()
            .map(|input| call.spelling(input).to_string_lossy().into_owned());
        names.collect()
    }

    #[test]
    fn the_earliest_step_is_where_the_compiler_stops() {
        for (line, step) in [
            ("cc a.c", Step::Link),
            ("cc -c a.c", Step::Object),
            ("cc -c -S a.c", Step::Assembly),
            ("cc -S -c a.c", Step::Assembly),
            ("cc -E -c a.c", Step::Nothing),
            ("cc -c -fsyntax-only a.c", Step::Nothing),
            ("cc -shared a.o", Step::Link),
            ("cc -O2 a.h", Step::Nothing),
            ("cc -x c-header -c a.h -o a.h.gch", Step::Nothing),
            ("cc -c -MD a.c", Step::Object),
            ("cc -o -E a.c", Step::Link),
        ] {
            assert_eq!(parsed(line).step, step, "{line}");
        }
    }

    #[test]
    fn inputs_are_known_by_language_then_by_name() {
        assert_eq!(sources("cc -c a.c b.c d.S e.o"), ["a.c", "b.c"]);
        assert_eq!(sources("cc -x c -c a.inc -x none b.cc"), ["a.inc"]);
        assert_eq!(sources("cc -xassembler-with-cpp -c a.c"), [""; 0]);
        assert_eq!(sources("c++ -c a.c"), [""; 0]);
        assert_eq!(sources("cc -include x.c -I y.c -DZ -c a.c"), ["a.c"]);
        assert_eq!(sources("ccache gcc -c a.c"), ["a.c"]);
        assert_eq!(sources("cc -E a.c"), [""; 0]);
    }

    #[test]
    fn dependency_files_are_found_in_each_way_of_asking() {
        let dependencies = |line: &str| parsed(line).dependencies;
        assert_eq!(dependencies("cc -c a.c -MF a.d -MT x"), None);
        assert_eq!(
            dependencies("cc -c a.c -MMD"),
            Some(Dependencies::default())
        );
        for line in [
            "cc -MD -MF a.d -c a.c",
            "cc -MD -MFa.d -c a.c",
            "cc -Wp,-MMD,a.d -c a.c",
            "cc -Wp,-MD,-MF,a.d -c a.c",
            "cc -Wp,-DX=1,-MD,a.d -c a.c",
        ] {
            assert_eq!(
                dependencies(line).unwrap().file,
                Some("a.d".into()),
                "{line}"
            );
        }
        let targets = dependencies("cc -MD -MT a$(x) -MQ b$ -c a.c")
            .unwrap()
            .targets;
        assert_eq!(targets, [&b"a$(x)"[..], b"b$$"]);
    }

    #[test]
    fn one_of_several_sources_keeps_the_flags_and_loses_the_others() {
        let call = parsed("cc -DA a.c -O2 b.c x.o -c");
        let second = call.sources().nth(1).unwrap();
        assert_eq!(
            call.arguments_for(second),
            ["-DA", "-O2", "b.c", "x.o", "-c"]
        );
        assert_eq!(call.object(second), Path::new("b.o"));
    }

    #[test]
    fn machine_flags_are_told_from_values_of_others() {
        let call = parsed("cc -m32 -D -mnot -target x -fno-pie -MD -c a.c -march=native");
        assert_eq!(
            call.machine_flags(),
            ["-m32", "-target", "x", "-fno-pie", "-march=native"]
        );
    }
}

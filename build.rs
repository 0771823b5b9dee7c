//! Hashes the sources into `CASSINI_BUILD`, the engine version under which results and bodies are
//! kept: a cache filled by another build is never mistaken for this one's.

use std::path::{Path, PathBuf};
use std::{fs, io};

fn main() -> io::Result<()> {
    let mut files = vec![PathBuf::from("Cargo.lock")];
    for folder in ["src", "checkers", "summaries"] {
        collect(Path::new(folder), &mut files)?;
    }
    files.sort();
    // FNV-1a: no dependency, and nothing here resists an adversary.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in &files {
        let name = file.to_string_lossy();
        for &byte in name.as_bytes().iter().chain(&fs::read(file)?) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    for folder in ["src", "checkers", "summaries"] {
        println!("cargo::rerun-if-changed={folder}");
    }
    println!("cargo::rerun-if-changed=Cargo.lock");
    println!("cargo::rustc-env=CASSINI_BUILD={hash:016x}");
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "rs" || extension == "toml")
        {
            files.push(path);
        }
    }
    Ok(())
}

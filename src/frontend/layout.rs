//! Record layout: sizes and offsets as gcc gives them on x86-64 (System V ABI, PCC bit-fields).
//!
//! In: for each member its size, alignment, bit-field width and packing. Out: where each member lies,
//! and the record's size and alignment. Pure arithmetic; types are looked through by the caller.

/// What the layout of one member depends on. Sizes and alignments in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemberShape {
    pub size: u64,
    /// Alignment of the member's type.
    pub align: u64,
    /// Declared width of a bit-field in bits.
    pub width: Option<u64>,
    /// Unnamed bit-fields do not count towards the record's alignment.
    pub named: bool,
    /// `packed` on the member or on the record.
    pub packed: bool,
    /// Alignment by `aligned(n)` or `_Alignas` on the member itself.
    pub requested: Option<u64>,
    /// The largest alignment that `#pragma pack(n)` allows.
    pub limit: Option<u64>,
}

/// Where a member lies, in bits from the record's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    pub bit: u64,
}

/// The layout of a record. Sizes and alignments in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordLayout {
    pub size: u64,
    pub align: u64,
    pub members: Vec<Placed>,
}

fn round_up(value: u64, to: u64) -> u64 {
    value.div_ceil(to.max(1)).saturating_mul(to.max(1))
}

/// Lays out a record's members in order. `minimum` is the largest `aligned(n)` of the record itself.
pub fn lay_out(union: bool, minimum: u64, members: &[MemberShape]) -> RecordLayout {
    let mut bit = 0u64;
    let mut end = 0u64;
    let mut align = minimum.max(1);
    let mut placed = Vec::with_capacity(members.len());
    for member in members {
        let start = if union { 0 } else { bit };
        let at = place(start, member);
        let counts = member.width.is_none() || member.named;
        if counts {
            align = align.max(effective_align(member));
        }
        let width = member.width.unwrap_or(member.size.saturating_mul(8));
        bit = at.saturating_add(width);
        end = end.max(bit);
        placed.push(Placed { bit: at });
    }
    RecordLayout {
        size: round_up(end.div_ceil(8), align),
        align,
        members: placed,
    }
}

/// The alignment that a member asks of its record.
fn effective_align(member: &MemberShape) -> u64 {
    let wanted = match (member.packed, member.requested) {
        (true, requested) => requested.unwrap_or(1),
        (false, requested) => member.align.max(requested.unwrap_or(1)),
    };
    wanted.min(member.limit.unwrap_or(u64::MAX))
}

fn place(start: u64, member: &MemberShape) -> u64 {
    let type_align = member.align.max(1).saturating_mul(8);
    match member.width {
        None => round_up(start, effective_align(member).saturating_mul(8)),
        // A zero-width bit-field closes the unit, packed or not.
        Some(0) => round_up(
            start,
            type_align.max(member.requested.unwrap_or(1).saturating_mul(8)),
        ),
        Some(width) => {
            let start = match member.requested {
                Some(align) => round_up(start, align.saturating_mul(8)),
                None => start,
            };
            // A bit-field may not span more units of its type's alignment than the type does.
            let spanned = (start % type_align + width).div_ceil(type_align);
            let own = (member.size.saturating_mul(8)).div_ceil(type_align);
            if !member.packed && member.limit.is_none() && spanned > own {
                round_up(start, type_align)
            } else {
                start
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(size: u64) -> MemberShape {
        MemberShape {
            size,
            align: size,
            named: true,
            ..MemberShape::default()
        }
    }

    fn bits(size: u64, width: u64) -> MemberShape {
        MemberShape {
            width: Some(width),
            ..plain(size)
        }
    }

    #[test]
    fn members_are_padded_to_their_alignment() {
        let layout = lay_out(false, 1, &[plain(1), plain(8), plain(2)]);
        assert_eq!(layout.members[1].bit, 64);
        assert_eq!(layout.members[2].bit, 128);
        assert_eq!((layout.size, layout.align), (24, 8));
    }

    #[test]
    fn a_bit_field_does_not_cross_its_unit_unless_packed() {
        let layout = lay_out(false, 1, &[bits(4, 30), bits(4, 5)]);
        assert_eq!(layout.members[1].bit, 32);
        let packed = bits(4, 5);
        let packed = MemberShape {
            packed: true,
            ..packed
        };
        let layout = lay_out(
            false,
            1,
            &[
                MemberShape {
                    packed: true,
                    ..bits(4, 30)
                },
                packed,
            ],
        );
        assert_eq!(layout.members[1].bit, 30);
        assert_eq!((layout.size, layout.align), (5, 1));
    }

    #[test]
    fn a_zero_width_bit_field_closes_the_unit_without_aligning_the_record() {
        let zero = MemberShape {
            named: false,
            ..bits(4, 0)
        };
        let layout = lay_out(false, 1, &[plain(1), zero, plain(1)]);
        assert_eq!(layout.members[2].bit, 32);
        assert_eq!((layout.size, layout.align), (5, 1));
    }

    #[test]
    fn a_union_is_as_large_as_its_largest_member() {
        let layout = lay_out(true, 1, &[plain(1), plain(4), bits(8, 3)]);
        assert_eq!((layout.size, layout.align), (8, 8));
    }
}

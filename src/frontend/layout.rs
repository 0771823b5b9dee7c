//! Record layout: sizes and offsets as gcc gives them where the type of a bit-field matters (System V ABIs).
//!
//! In: for each member its size, alignment, bit-field width and packing. Out: where each member lies,
//! and the record's size and alignment. Pure arithmetic; types are looked through by the caller.

/// What the layout of one member depends on. Sizes and alignments in bytes.
#[derive(Clone, Copy, Debug)]
pub struct MemberShape {
    pub size: u64,
    /// Alignment of the member's type, as far as members have it.
    pub align: u64,
    /// The strictest alignment that a member has by its type or width, in bits.
    pub most: u64,
    /// Declared width of a bit-field in bits.
    pub width: Option<u64>,
    /// A bit-field counts towards the record's alignment: unnamed ones do for some targets only.
    pub aligns_record: bool,
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
    /// What the member itself is aligned to, in bytes.
    pub align: u64,
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
    let mut align = minimum.max(1).saturating_mul(8);
    let mut placed = Vec::with_capacity(members.len());
    for member in members {
        let start = if union { 0 } else { bit };
        let own = member.own_align(start);
        align = align.max(member.record_align(own));
        let at = if union { 0 } else { member.place(start, own) };
        let width = member.width.unwrap_or(member.size.saturating_mul(8));
        bit = at.saturating_add(width);
        end = end.max(bit);
        placed.push(Placed {
            bit: at,
            align: own / 8,
        });
    }
    let align = align / 8;
    RecordLayout {
        size: round_up(end.div_ceil(8), align),
        align,
        members: placed,
    }
}

/// Alignments in bits, as gcc's `layout_decl`, `update_alignment_for_field` and `place_field` have them.
impl MemberShape {
    fn type_align(&self) -> u64 {
        self.align.max(1).saturating_mul(8)
    }

    fn requested(&self) -> u64 {
        self.requested.unwrap_or(0).saturating_mul(8).max(1)
    }

    fn limit(&self) -> u64 {
        self.limit.map_or(u64::MAX, |limit| limit.saturating_mul(8))
    }

    /// What the member itself is aligned to if it could begin at `start`.
    fn own_align(&self, start: u64) -> u64 {
        match self.width {
            None => match (self.packed, self.requested) {
                (true, None) => 8,
                (true, Some(_)) => self.requested().max(8),
                (false, _) => self.type_align().max(self.requested()),
            }
            .min(self.limit()),
            // A zero-width bit-field closes the unit, packed or not.
            Some(0) => self.type_align().max(self.requested()).min(self.limit()),
            Some(width) => match self.is_whole(start, width) {
                true if self.requested.is_none() => width.min(self.most),
                true => self.requested().max(width),
                false => self.requested(),
            }
            .min(self.limit()),
        }
    }

    /// A bit-field that is a machine integer lying where those lie.
    fn is_whole(&self, start: u64, width: u64) -> bool {
        matches!(width, 8 | 16 | 32 | 64 | 128)
            && (width == 8 || !self.packed)
            && start.is_multiple_of(width)
    }

    /// What the member asks of its record.
    fn record_align(&self, own: u64) -> u64 {
        match self.width {
            None => own,
            Some(_) if !self.aligns_record => 8,
            Some(0) => own,
            Some(_) if self.limit.is_some() => own.max(self.type_align().min(self.limit())).max(8),
            Some(_) if self.packed => own.max(8),
            Some(_) => own.max(self.type_align()),
        }
    }

    fn place(&self, start: u64, own: u64) -> u64 {
        let at = round_up(start, own);
        let Some(width) = self.width.filter(|width| *width > 0) else {
            return at;
        };
        if self.packed || self.limit.is_some() || self.is_whole(start, width) {
            return at;
        }
        // A bit-field may not span more units of its type's alignment than the type does.
        let unit = self.type_align();
        let spanned = (at % unit + width).div_ceil(unit);
        if spanned > self.size.saturating_mul(8) / unit {
            round_up(at, unit)
        } else {
            at
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
            most: u64::MAX,
            width: None,
            aligns_record: true,
            packed: false,
            requested: None,
            limit: None,
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
            aligns_record: false,
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

    #[test]
    fn under_pragma_pack_a_packed_bit_field_asks_for_the_alignment_of_its_type() {
        let member = MemberShape {
            packed: true,
            limit: Some(2),
            ..bits(4, 12)
        };
        assert_eq!(lay_out(false, 1, &[member]).align, 2);
        let member = MemberShape {
            limit: None,
            ..member
        };
        assert_eq!(lay_out(false, 1, &[member]).align, 1);
    }

    #[test]
    fn a_bit_field_as_wide_as_an_integer_is_aligned_as_one() {
        let long = MemberShape {
            align: 1,
            ..bits(8, 64)
        };
        assert_eq!(lay_out(false, 1, &[long]).align, 8);
        let layout = lay_out(false, 1, &[plain(1), long]);
        assert_eq!((layout.members[1].bit, layout.align), (8, 1));
    }
}

/// Generates ids for requests that have none: version 4 UUIDs in upper case, like those of Apple (reference 1.5).
///
/// The ids must differ, but need not be unguessable. Two generators, one for each half, that are seeded by the system's
/// generator cost many times less than the system's own.
struct RequestIDGenerator: Sendable {
    private static let digits = Array("0123456789ABCDEF".utf8)

    private var high: UInt64
    private var low: UInt64

    init() {
        var system = SystemRandomNumberGenerator()
        self.high = system.next()
        self.low = system.next()
    }

    mutating func next() -> String {
        self.high &+= 0x9e37_79b9_7f4a_7c15
        self.low &+= 0xd1b5_4a32_d192_ed03
        let high = Self.mix(self.high) & 0xffff_ffff_ffff_0fff | 0x4000
        let low = Self.mix(self.low) & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000
        return Self.text(high, low)
    }

    private static func mix(_ state: UInt64) -> UInt64 {
        var value = state
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return value ^ (value >> 31)
    }

    private static func text(_ high: UInt64, _ low: UInt64) -> String {
        let digits = Self.digits
        return String(unsafeUninitializedCapacity: 36) { buffer in
            var position = 0
            for index in 0..<32 {
                if index == 8 || index == 12 || index == 16 || index == 20 {
                    buffer[position] = UInt8(ascii: "-")
                    position += 1
                }
                let word = index < 16 ? high : low
                buffer[position] = digits[Int(truncatingIfNeeded: word >> UInt64(60 - 4 * (index & 15))) & 15]
                position += 1
            }
            return position
        }
    }

    /// Returns whether `text` has the canonical form 8-4-4-4-12, in either letter case.
    static func isID(_ text: String) -> Bool {
        guard text.utf8.count == 36 else { return false }
        var position = 0
        for byte in text.utf8 {
            switch position {
            case 8, 13, 18, 23: if byte != UInt8(ascii: "-") { return false }
            default:
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                    UInt8(ascii: "A")...UInt8(ascii: "F"):
                    break
                default: return false
                }
            }
            position += 1
        }
        return true
    }
}

/// The primitive type representations of HPACK (RFC 7541 section 5).
enum HPACKPrimitives {
    /// Decodes an integer of at most 2²⁸, with `prefix` bits in the first byte, and advances `offset`. Returns `nil` if
    /// it is malformed or larger.
    static func integer(_ block: borrowing Span<UInt8>, at offset: inout Int, prefix: Int) -> Int? {
        let mask = 1 << prefix - 1
        guard offset < block.count else { return nil }
        var value = Int(block[offset]) & mask
        offset += 1
        guard value == mask else { return value }
        var shift = 0
        while true {
            guard offset < block.count, shift <= 21 else { return nil }
            let byte = block[offset]
            offset += 1
            value += Int(byte & 0x7f) << shift
            shift += 7
            if byte & 0x80 == 0 { return value }
        }
    }

    /// Decodes the length of a string literal, and advances `offset` beyond the literal.
    /// - Returns: The range of the literal's bytes, with a Boolean value that indicates whether they are Huffman-coded,
    ///   or `nil` if the literal is malformed or incomplete.
    static func string(_ block: borrowing Span<UInt8>, at offset: inout Int) -> (range: Range<Int>, isHuffman: Bool)? {
        guard offset < block.count else { return nil }
        let isHuffman = block[offset] & 0x80 != 0
        guard let length = Self.integer(block, at: &offset, prefix: 7), length <= block.count - offset else {
            return nil
        }
        let start = offset
        offset += length
        return (start..<offset, isHuffman)
    }
}

extension [UInt8] {
    /// Appends an integer with `prefix` bits in the first byte (RFC 7541 section 5.1).
    /// - Parameter pattern: The bits of the first byte before the prefix.
    mutating func appendInteger(_ value: Int, prefix: Int, pattern: UInt8) {
        let mask = 1 << prefix - 1
        guard value >= mask else { return self.append(pattern | UInt8(truncatingIfNeeded: value)) }
        self.append(pattern | UInt8(truncatingIfNeeded: mask))
        var rest = value - mask
        while rest >= 128 {
            self.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        self.append(UInt8(truncatingIfNeeded: rest))
    }

    mutating func appendString(_ text: String) {
        self.appendInteger(text.utf8.count, prefix: 7, pattern: 0)
        self.append(contentsOf: text.utf8)
    }
}

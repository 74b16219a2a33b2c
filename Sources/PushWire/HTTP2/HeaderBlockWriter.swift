/// Writes the pieces of a header block into memory that was made large enough for all of them.
///
/// The caller counts the size with 32 bytes per field, which is more than the block needs. What would not fit all the
/// same is left out rather than written past the end.
@usableFromInline
package struct HeaderBlockWriter {
    @usableFromInline let target: UnsafeMutableRawBufferPointer
    /// Bytes written.
    @inlinable package var count: Int { self.written }
    @usableFromInline var written = 0

    @inlinable
    package init(_ target: UnsafeMutableRawBufferPointer) {
        self.target = target
    }

    @inlinable
    package mutating func write(_ byte: UInt8) {
        guard self.written < self.target.count else { return }
        self.target[self.written] = byte
        self.written += 1
    }

    @inlinable
    package mutating func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { self.copy($0) }
    }

    /// A string literal without Huffman coding.
    @inlinable
    package mutating func write(string: String) {
        var string = string
        string.withUTF8 { bytes in
            self.write(length: bytes.count)
            self.copy(UnsafeRawBufferPointer(bytes))
        }
    }

    /// The length of a string literal.
    @inlinable
    package mutating func write(length: Int) {
        if length < 127 {
            self.write(UInt8(truncatingIfNeeded: length))
        } else {
            var bytes: [UInt8] = []
            bytes.appendInteger(length, prefix: 7, pattern: 0)
            self.write(bytes)
        }
    }

    @inlinable
    package mutating func copy(_ bytes: UnsafeRawBufferPointer) {
        let end = self.written + bytes.count
        guard end <= self.target.count else { return }
        UnsafeMutableRawBufferPointer(rebasing: self.target[self.written..<end]).copyMemory(from: bytes)
        self.written = end
    }

    /// Bytes in hexadecimal, in lower case.
    @inlinable
    package mutating func write(hexadecimal bytes: [UInt8]) {
        guard self.written + bytes.count * 2 <= self.target.count else { return }
        for byte in bytes {
            self.target[self.written] = Self.digit(byte >> 4)
            self.target[self.written + 1] = Self.digit(byte & 15)
            self.written += 2
        }
    }

    @inlinable
    static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") &+ value : UInt8(ascii: "a") &+ value &- 10
    }
}

/// Writes the fields of a header block into memory that the caller has allocated. Besides the names and values, the
/// caller reserves 32 bytes per field, which is more than needed. A field that does not fit is left out. Nothing is
/// written beyond the end.
struct HeaderBlockWriter {
    private let target: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(_ target: UnsafeMutableRawBufferPointer) { self.target = target }

    mutating func write(_ byte: UInt8) {
        guard self.count < self.target.count else { return }
        self.target[self.count] = byte
        self.count += 1
    }

    mutating func write(_ bytes: [UInt8]) { bytes.withUnsafeBytes { self.copy($0) } }

    mutating func write(string: String) {
        var string = string
        string.withUTF8 { bytes in
            self.write(length: bytes.count)
            self.copy(UnsafeRawBufferPointer(bytes))
        }
    }

    mutating func write(length: Int) {
        if length < 127 {
            self.write(UInt8(truncatingIfNeeded: length))
        } else {
            var bytes: [UInt8] = []
            bytes.appendInteger(length, prefix: 7, pattern: 0)
            self.write(bytes)
        }
    }

    mutating func write(hexadecimal bytes: [UInt8]) {
        guard self.count + bytes.count * 2 <= self.target.count else { return }
        for byte in bytes {
            self.target[self.count] = Self.digit(byte >> 4)
            self.target[self.count + 1] = Self.digit(byte & 15)
            self.count += 2
        }
    }

    private mutating func copy(_ bytes: UnsafeRawBufferPointer) {
        let end = self.count + bytes.count
        guard end <= self.target.count else { return }
        UnsafeMutableRawBufferPointer(rebasing: self.target[self.count..<end]).copyMemory(from: bytes)
        self.count = end
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") &+ value : UInt8(ascii: "a") &+ value &- 10
    }
}

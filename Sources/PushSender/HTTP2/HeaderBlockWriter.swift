import PushProtocol

/// Writes the pieces of a header block into memory that was made large enough for all of them.
///
/// The size is ``RequestEncoder/headerListSize(of:)``, which counts 32 bytes more per field than the block needs. What
/// would not fit all the same is left out rather than written past the end.
struct HeaderBlockWriter {
    private let target: UnsafeMutableRawBufferPointer
    /// Bytes written.
    private(set) var count = 0

    init(_ target: UnsafeMutableRawBufferPointer) {
        self.target = target
    }

    mutating func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { self.copy($0) }
    }

    /// A string literal without Huffman coding.
    mutating func write(string: String) {
        var string = string
        string.withUTF8 { bytes in
            self.write(length: bytes.count)
            self.copy(UnsafeRawBufferPointer(bytes))
        }
    }

    /// Value of `:path`.
    mutating func writeDevicePath(_ token: DeviceToken) {
        let digits = token.bytes.count * 2
        self.write(length: RequestLane.devicePath.utf8.count + digits)
        var path = RequestLane.devicePath
        path.withUTF8 { self.copy(UnsafeRawBufferPointer($0)) }
        guard self.count + digits <= self.target.count else { return }
        for byte in token.bytes {
            self.target[self.count] = Self.digit(byte >> 4)
            self.target[self.count + 1] = Self.digit(byte & 15)
            self.count += 2
        }
    }

    private mutating func write(length: Int) {
        var bytes: [UInt8] = []
        if length < 127 {
            guard self.count < self.target.count else { return }
            self.target[self.count] = UInt8(truncatingIfNeeded: length)
            self.count += 1
        } else {
            bytes.appendInteger(length, prefix: 7, pattern: 0)
            self.write(bytes)
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

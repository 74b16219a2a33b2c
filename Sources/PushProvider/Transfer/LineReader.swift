/// Splits bytes into lines, however they are cut into pieces.
struct LineReader {
    /// Longest line, in bytes without its end.
    static let maximumLength = 64 * 1024

    enum Line: Equatable {
        case bytes(number: Int, [UInt8])
        case tooLong(number: Int)
    }

    private var line: [UInt8] = []
    private var number = 1
    private var isTooLong = false

    /// Gives every line that ends in these bytes to `body`; without LF or CRLF, and without empty ones.
    mutating func read(_ bytes: [UInt8], _ body: (Line) -> Void) {
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            self.add(rest[..<end])
            self.finish(body)
            rest = rest[(end + 1)...]
        }
        self.add(rest)
    }

    /// The last line may have no end.
    mutating func end(_ body: (Line) -> Void) {
        self.finish(body)
    }

    private mutating func add(_ bytes: ArraySlice<UInt8>) {
        // One more for the CR before the LF.
        guard !self.isTooLong, self.line.count + bytes.count <= Self.maximumLength + 1 else {
            self.isTooLong = true
            self.line = []
            return
        }
        self.line += bytes
    }

    private mutating func finish(_ body: (Line) -> Void) {
        if self.line.last == UInt8(ascii: "\r") { self.line.removeLast() }
        if self.isTooLong || self.line.count > Self.maximumLength {
            body(.tooLong(number: self.number))
        } else if !self.line.isEmpty {
            body(.bytes(number: self.number, self.line))
        }
        self.line = []
        self.isTooLong = false
        self.number += 1
    }
}

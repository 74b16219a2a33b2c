import NIOCore

/// Splits bytes that arrive in buffers of any size into lines. At most one line is kept in memory.
struct LineReader {
    /// A line without its line end. ``bytes`` is `nil` if the line is longer than ``TransferLimits/maximumRecord``.
    struct Line: Equatable {
        /// The number of the line, from 1.
        var number: Int
        var bytes: [UInt8]?
    }

    private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

    private var pending: [UInt8] = []
    /// A Boolean value that indicates whether the rest of a line that is too long is being dropped.
    private var isSkipping = false
    private var number = 0

    /// Reads the next bytes of the file, and returns the lines that end in them, including empty ones.
    mutating func feed(_ bytes: ByteBufferView) -> [Line] {
        var lines: [Line] = []
        var rest = bytes
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            self.take(rest[rest.startIndex..<end])
            lines.append(self.line())
            rest = rest[rest.index(after: end)...]
        }
        self.take(rest)
        return lines
    }

    /// Returns the last line if it has no line end, or `nil` otherwise.
    mutating func finish() -> Line? { self.pending.isEmpty && !self.isSkipping ? nil : self.line() }

    private mutating func take(_ bytes: ByteBufferView) {
        guard !self.isSkipping, !bytes.isEmpty else { return }
        guard self.pending.count + bytes.count < TransferLimits.maximumRecord else {
            self.isSkipping = true
            return self.pending.removeAll()
        }
        self.pending.append(contentsOf: bytes)
    }

    private mutating func line() -> Line {
        defer {
            self.pending.removeAll(keepingCapacity: true)
            self.isSkipping = false
        }
        self.number += 1
        guard !self.isSkipping else { return Line(number: self.number, bytes: nil) }
        if self.pending.last == UInt8(ascii: "\r") { self.pending.removeLast() }
        if self.number == 1, self.pending.starts(with: Self.byteOrderMark) { self.pending.removeFirst(3) }
        return Line(number: self.number, bytes: self.pending)
    }
}

import NIOCore

/// Splits the bytes of a JSON array into its objects. The bytes may arrive in buffers of any size, and at most one
/// object is kept in memory.
///
/// The array is the whole file, or the first member, `results`, of the file's only object. Objects without an array are
/// split too.
struct ElementReader {
    /// An element that was split off: an object, or bytes that are not an object.
    struct Element: Equatable {
        /// The line on which the object begins, from 1.
        var line: Int
        /// The bytes of the object, or `nil` if it is no object or exceeds ``TransferLimits/maximumRecord``.
        var bytes: [UInt8]?
        var isGarbage = false
    }

    private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]
    /// The beginning of a file whose only object contains the array, without white space.
    private static let wrapper = Array(#"{"results":["#.utf8)

    private var bytes: [UInt8] = []
    /// The nesting depth of objects and arrays, which is 0 between two objects.
    private var depth = 0
    private var isInText = false
    private var isEscaped = false
    private var isTooLong = false
    private var isInGarbage = false
    private var hasBegun = false
    private var line = 1
    private var firstLine = 1
    private var markBytes = 0

    /// Reads the next bytes of the file, and returns the objects that end in them.
    mutating func feed(_ bytes: ByteBufferView) -> [Element] {
        var elements: [Element] = []
        for byte in bytes {
            if self.isByteOrderMark(byte) { continue }
            if let element = self.depth == 0 ? self.between(byte) : self.within(byte) { elements.append(element) }
            if byte == UInt8(ascii: "\n") { self.line += 1 }
        }
        return elements
    }

    /// Returns the incomplete object at the end of the file, or `nil` if there is none.
    mutating func finish() -> Element? {
        guard self.depth > 0 else { return nil }
        self.depth = 0
        return Element(line: self.firstLine, bytes: self.isTooLong ? nil : self.bytes)
    }

    private mutating func isByteOrderMark(_ byte: UInt8) -> Bool {
        guard self.markBytes < 3 else { return false }
        let isMark = byte == Self.byteOrderMark[self.markBytes]
        self.markBytes = isMark ? self.markBytes + 1 : 3
        return isMark
    }

    private mutating func between(_ byte: UInt8) -> Element? {
        switch byte {
        case UInt8(ascii: "{"):
            (self.depth, self.firstLine, self.bytes) = (1, self.line, [byte])
            (self.isInText, self.isEscaped, self.isTooLong, self.isInGarbage) = (false, false, false, false)
        case UInt8(ascii: "[") where !self.hasBegun: self.hasBegun = true
        case 0x20, 0x09, 0x0a, 0x0d, UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"): self.isInGarbage = false
        default:
            // All bytes between two commas or line ends are one error.
            guard !self.isInGarbage else { return nil }
            self.isInGarbage = true
            return Element(line: self.line, bytes: nil, isGarbage: true)
        }
        return nil
    }

    private mutating func within(_ byte: UInt8) -> Element? {
        if self.bytes.count < TransferLimits.maximumRecord { self.bytes.append(byte) } else { self.isTooLong = true }
        if self.isInText {
            switch byte {
            case _ where self.isEscaped: self.isEscaped = false
            case UInt8(ascii: "\\"): self.isEscaped = true
            case UInt8(ascii: "\""): self.isInText = false
            default: break
            }
            return nil
        }
        switch byte {
        case UInt8(ascii: "\""): self.isInText = true
        case UInt8(ascii: "{"): self.depth += 1
        case UInt8(ascii: "["):
            self.depth += 1
            guard !self.hasBegun, self.depth == 2, self.isWrapper else { break }
            (self.hasBegun, self.depth) = (true, 0)
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            self.depth -= 1
            guard self.depth == 0 else { break }
            self.hasBegun = true
            return Element(line: self.firstLine, bytes: self.isTooLong ? nil : self.bytes)
        default: break
        }
        return nil
    }

    /// A Boolean value that indicates whether the bytes so far are the beginning of an object that contains the array.
    private var isWrapper: Bool {
        self.bytes.count < 256 && self.bytes.filter { ![0x20, 0x09, 0x0a, 0x0d].contains($0) } == Self.wrapper
    }
}

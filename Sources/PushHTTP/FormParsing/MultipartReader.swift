import Foundation
package import NIOCore
package import PushSupport

/// An incremental parser of `multipart/form-data` (RFC 7578).
///
/// It buffers a field until the field is complete. It buffers bytes of a file only if they may begin a delimiter.
package struct MultipartReader: Sendable {
    /// An event of the parser: a field, the beginning, bytes or end of a file, or the end of the form.
    package enum Event: Equatable, Sendable {
        case field(name: String, value: String)
        /// The beginning of a file. Its content follows, up to ``fileEnded``.
        case fileBegan(name: String, fileName: String, contentType: String?)
        case fileBytes(ByteBuffer)
        case fileEnded
        /// The end of the form after its closing delimiter. Bytes after it are not part of the form.
        case ended
    }

    private enum State: Equatable {
        case preamble
        /// The state after a delimiter, before the end of its line.
        case delimiter
        case head
        case field(name: String)
        case file
        case ended
    }

    /// The maximum length of a part's header section, in bytes. A longer one makes the form invalid.
    static let maximumHead = 4096

    private static let lineEnd: [UInt8] = [0x0d, 0x0a]

    /// The line break and the delimiter that terminate each part.
    private let mark: [UInt8]
    private let limits: FormData.Limits
    private var state = State.preamble
    private var buffer: ByteBuffer

    /// Creates a parser that has read nothing. Throws ``RequestError`` for a content type without a valid boundary.
    /// - Parameters:
    ///   - contentType: The value of `content-type`, which contains the boundary.
    ///   - limits: The limits of the form, including whether parts with a file name are files.
    package init(contentType: String, limits: FormData.Limits) throws(RequestError) {
        guard let boundary = HeaderParameters(behindValue: contentType)["boundary"], Self.isBoundary(boundary) else {
            throw FormData.error("invalid_boundary", "multipart needs a boundary of 1 to 70 characters")
        }
        (self.mark, self.limits) = (Self.lineEnd + "--\(boundary)".utf8, limits)
        // The first delimiter may be at the start of the body, where no line break precedes it.
        self.buffer = ByteBuffer(bytes: Self.lineEnd)
    }

    /// Returns whether a boundary is valid (RFC 2046 section 5.1.1).
    private static func isBoundary(_ text: String) -> Bool {
        (1...70).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isAlphanumeric || "'()+_,-./:=? ".utf8.contains($0) }
            && text.utf8.last != UInt8(ascii: " ")
    }

    package mutating func append(_ bytes: ByteBuffer) {
        guard self.state != .ended else { return }
        self.buffer.discardReadBytes()
        self.buffer.writeImmutableBuffer(bytes)
    }

    /// The error for a body that ends before the form is complete.
    package var unfinished: RequestError {
        switch self.state {
        case .preamble: Self.broken("it does not contain its boundary")
        case .delimiter, .ended: Self.broken("it ends after a boundary")
        case .head: Self.broken("the head of a part does not end")
        case .field, .file: Self.broken("a part has no end")
        }
    }

    /// Returns the next event, or `nil` if more bytes are needed or the form has ended. Throws ``RequestError`` for a
    /// malformed body.
    package mutating func next() throws(RequestError) -> Event? {
        while true {
            switch self.state {
            case .preamble: guard self.skipPreamble() else { return nil }
            case .delimiter:
                guard self.buffer.readableBytes >= 2 else { return nil }
                if self.buffer.readableBytesView.starts(with: "--".utf8) {
                    self.state = .ended
                    self.buffer.clear()
                    return .ended
                }
                guard try self.skipLine() else { return nil }
            case .head:
                guard let head = try self.head() else { return nil }
                guard self.limits.acceptsFiles, let fileName = head.fileName else {
                    self.state = .field(name: head.name)
                    continue
                }
                self.state = .file
                return .fileBegan(name: head.name, fileName: fileName, contentType: head.contentType)
            case .field(let name): return try self.field(name)
            case .file: return self.fileEvent()
            case .ended: return nil
            }
        }
    }

    // MARK: Parts

    /// Consumes the bytes before the first delimiter. Returns `false` if more bytes are needed.
    private mutating func skipPreamble() -> Bool {
        guard let index = self.index(of: self.mark) else {
            self.buffer.moveReaderIndex(forwardBy: max(0, self.buffer.readableBytes - self.mark.count + 1))
            return false
        }
        self.buffer.moveReaderIndex(forwardBy: index + self.mark.count)
        self.state = .delimiter
        return true
    }

    /// Consumes the rest of a delimiter's line, up to the header section of a part. Returns `false` if more bytes are
    /// needed.
    private mutating func skipLine() throws(RequestError) -> Bool {
        guard let index = self.index(of: Self.lineEnd) else {
            guard self.buffer.readableBytes <= Self.maximumHead else { throw Self.broken("it ends after a boundary") }
            return false
        }
        self.buffer.moveReaderIndex(forwardBy: index + Self.lineEnd.count)
        self.state = .head
        return true
    }

    /// Parses the header section of a part. Returns `nil` if more bytes are needed.
    private mutating func head() throws(RequestError) -> (name: String, fileName: String?, contentType: String?)? {
        guard !self.buffer.readableBytesView.starts(with: Self.lineEnd) else { throw Self.broken("a part has no name") }
        let length = self.index(of: Self.lineEnd + Self.lineEnd)
        guard length ?? self.buffer.readableBytes <= Self.maximumHead else {
            throw Self.broken("the head of a part does not end")
        }
        guard let length else { return nil }
        let text = String(decoding: self.buffer.readableBytesView.prefix(length), as: UTF8.self)
        self.buffer.moveReaderIndex(forwardBy: length + 2 * Self.lineEnd.count)
        var (disposition, contentType): (HeaderParameters?, String?)
        for line in text.components(separatedBy: "\r\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { throw Self.broken("the head of a part is malformed") }
            switch parts[0].lowercased() {
            case "content-disposition": disposition = HeaderParameters(behindValue: String(parts[1]))
            case "content-type": contentType = parts[1].trimmingCharacters(in: .whitespaces)
            default: break
            }
        }
        guard let name = disposition?["name"], !name.isEmpty else { throw Self.broken("a part has no name") }
        return (name, disposition?["filename"], contentType)
    }

    private mutating func field(_ name: String) throws(RequestError) -> Event? {
        guard let length = self.index(of: self.mark) else {
            guard self.buffer.readableBytes <= self.limits.value + self.mark.count else {
                throw FormData.error("too_long", "a field has at most \(self.limits.value) bytes")
            }
            return nil
        }
        guard let value = String(validating: self.buffer.readableBytesView.prefix(length), as: UTF8.self) else {
            throw Self.broken("a part is not UTF-8")
        }
        self.buffer.moveReaderIndex(forwardBy: length + self.mark.count)
        self.state = .delimiter
        return .field(name: name, value: value)
    }

    /// Returns the bytes of a file that have arrived, or the end of the file, or `nil` if more bytes are needed.
    private mutating func fileEvent() -> Event? {
        if let length = self.index(of: self.mark) {
            if length > 0 { return self.buffer.readSlice(length: length).map(Event.fileBytes) }
            self.buffer.moveReaderIndex(forwardBy: self.mark.count)
            self.state = .delimiter
            return .fileEnded
        }
        let length = self.buffer.readableBytes - self.mark.count + 1
        guard length > 0 else { return nil }
        return self.buffer.readSlice(length: length).map(Event.fileBytes)
    }

    /// Returns the position of `mark` in the unconsumed bytes, or `nil` if they do not contain it.
    private func index(of mark: [UInt8]) -> Int? {
        self.buffer.withUnsafeReadableBytes { bytes in
            guard let base = bytes.baseAddress, let first = mark.first, bytes.count >= mark.count else { return nil }
            let last = bytes.count - mark.count
            var start = 0
            while start <= last, let found = memchr(base + start, Int32(first), last - start + 1) {
                let index = UnsafeRawPointer(found) - base
                if memcmp(found, mark, mark.count) == 0 { return index }
                start = index + 1
            }
            return nil
        }
    }

    private static func broken(_ why: String) -> RequestError {
        FormData.error("invalid_form", "the body is not multipart/form-data: \(why)")
    }
}

/// A parser of `multipart/form-data` (RFC 7578) for a body that is completely in memory.
package enum MultipartForm {
    /// Returns the fields and the files of a body. Throws ``RequestError`` for a body that is not a complete form.
    /// - Parameter contentType: The value of `content-type`, which contains the boundary.
    package static func fields(
        of body: [UInt8],
        contentType: String,
        limits: FormData.Limits = FormData.Limits()
    ) throws(RequestError) -> FormData {
        var reader = try MultipartReader(contentType: contentType, limits: limits)
        reader.append(ByteBuffer(bytes: body))
        var fields = FormData(limits: limits)
        var file = (name: "", fileName: "", content: [UInt8]())
        while let event = try reader.next() {
            switch event {
            case .field(let name, let value): try fields.add(name, value)
            case .fileBegan(let name, let fileName, _): file = (name, fileName, [])
            case .fileBytes(let bytes): file.content.append(contentsOf: bytes.readableBytesView)
            case .fileEnded: try fields.add(FormFile(name: file.name, fileName: file.fileName, content: file.content))
            case .ended: return fields
            }
        }
        throw reader.unfinished
    }
}

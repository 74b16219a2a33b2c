import PushSupport

/// An incremental parser of XMPP streams (RFC 6120 §11), without I/O. The bytes may arrive in chunks of any size.
///
/// Document types, comments, processing instructions other than the XML declaration, and entities other than XML's five
/// are rejected with `restricted-xml`. Depth, sizes and counts are limited, and parsing takes linear time. Whitespace
/// between stanzas is skipped.
package struct XMPPStreamParser: Sendable {
    /// The default maximum length of a stanza, in bytes. A longer one ends the stream, unless ``truncates`` is set.
    package static let maximumStanza = 512 * 1024
    /// The maximum depth of nested elements. A deeper stanza ends the stream, unless ``truncates`` is set.
    package static let maximumDepth = 32
    /// The default maximum length of a stanza whose content is discarded, in bytes.
    ///
    /// A server may expand a stranger's stanza to many times its length, because it escapes characters and may repeat a
    /// namespace on each element. The limit ensures that an endless stanza does not hide all later ones.
    package static let maximumTruncated = 64 * 1024 * 1024
    /// The maximum number of elements in a stanza. A stanza with more ends the stream, unless ``truncates`` is set.
    package static let maximumElements = 1000
    /// The maximum length of a stream header and the XML declaration, in bytes. A longer header ends the stream.
    package static let maximumHeader = 16 * 1024
    /// The maximum number of namespace declarations in scope. More end the stream, unless ``truncates`` is set.
    static let maximumPrefixes = 64

    private enum Phase {
        /// The phase before the XML declaration and any tag have been read.
        case start
        /// The phase after the XML declaration has been read.
        case declared
        /// The phase in which stanzas are read, after the stream header with this tag name.
        case open(String)
        case ended
        case failed(XMPPStreamError)
    }

    private struct OpenElement {
        var element: XMLElement
        var name: String
        /// The number of namespace declarations that are in scope outside the element.
        var scope: Int
    }

    /// A Boolean value that indicates whether the content of a stanza that is too long, has too many elements or has
    /// unresolvable namespaces is discarded. Otherwise such a stanza ends the stream. A server routes stanzas of
    /// strangers without checking them.
    ///
    /// The parser tracks only the depth of the discarded elements. The attributes of the stanza itself are kept if its
    /// start tag can be parsed. The stream still ends if a parsed section is not well-formed, and for a stanza of more
    /// than ``maximumTruncated`` bytes.
    package var truncates = false
    private let maximumStanza: Int
    private let maximumTruncated: Int
    private var phase = Phase.start
    /// The received bytes. Those before ``position`` have been parsed.
    private var bytes: [UInt8] = []
    private var position = 0
    private var scanner = XMLTokenScanner()
    private var scope = XMLScope()
    private var open: [OpenElement] = []
    /// The number of bytes of the current stanza that have been parsed.
    private var length = 0
    private var elements = 0
    /// A Boolean value that indicates whether the content of the current stanza is discarded. Then ``open`` contains
    /// only the stanza itself.
    private var isTruncated = false
    private var hidden = 0
    /// The number of elements that have been read since the stream began. Callers limit the rate of elements, because
    /// even a short, empty element costs as much work as others.
    package private(set) var elementsRead = 0

    package init(maximumStanza: Int = Self.maximumStanza, maximumTruncated: Int = Self.maximumTruncated) {
        (self.maximumStanza, self.maximumTruncated) = (maximumStanza, maximumTruncated)
    }

    /// Appends received bytes. ``next()`` returns the events that they complete.
    package mutating func receive(_ bytes: some Collection<UInt8>) throws(XMPPStreamError) {
        switch self.phase {
        case .failed(let error): throw error
        case .ended: return
        case .start, .declared, .open: break
        }
        self.forget()
        guard self.bytes.count - self.position <= self.maximumStanza + Self.maximumHeader else {
            throw self.fail(XMPPStreamError(.policyViolation, "too many bytes wait to be read"))
        }
        self.bytes += bytes
    }

    /// Returns the next event, or `nil` if more bytes are needed or the stream has ended.
    /// - Throws: The ``XMPPStreamError`` with which the stream must be closed. Every later call throws it again.
    package mutating func next() throws(XMPPStreamError) -> XMPPStreamEvent? {
        if case .failed(let error) = self.phase { throw error }
        do {
            return try self.read()
        } catch {
            throw self.fail(error)
        }
    }

    private mutating func fail(_ error: XMPPStreamError) -> XMPPStreamError {
        self = XMPPStreamParser(maximumStanza: self.maximumStanza, maximumTruncated: self.maximumTruncated)
        self.phase = .failed(error)
        return error
    }

    /// Releases the bytes that have been parsed, so that an idle stream needs no memory for them.
    private mutating func forget() {
        if self.position == self.bytes.count {
            (self.bytes, self.position) = ([], 0)
        } else if self.position > Self.maximumHeader {
            self.bytes.removeFirst(self.position)
            self.position = 0
        }
    }
}

// MARK: - Tokens

extension XMPPStreamParser {
    private mutating func read() throws(XMPPStreamError) -> XMPPStreamEvent? {
        while true {
            if case .ended = self.phase { return nil }
            if self.open.isEmpty {
                self.skipSpace()
                // Only whitespace may occur between stanzas.
                if self.position < self.bytes.count, self.bytes[self.position] != UInt8(ascii: "<") {
                    throw XMPPStreamError(.badFormat, "it has text between stanzas")
                }
            }
            let rest = self.bytes[self.position...]
            guard let (token, end) = try Self.xml({ () throws(XMLFault) in try self.scanner.scan(rest) }) else {
                try self.count(self.bytes.count - self.position, isWhole: false)
                self.shorten()
                self.forget()
                return nil
            }
            let bytes = self.bytes[self.position..<end]
            try self.count(bytes.count, isWhole: true)
            self.position = end
            if let event = try self.event(token, bytes) { return event }
        }
    }

    private mutating func skipSpace() {
        while self.position < self.bytes.count, XMLCharacters.isSpace(self.bytes[self.position]) { self.position += 1 }
    }

    /// Adds the bytes of a complete token to the stanza's length. Throws an error if the stanza or the header is too
    /// long with the bytes of a complete or an incomplete token.
    private mutating func count(_ bytes: Int, isWhole: Bool) throws(XMPPStreamError) {
        let length = self.length + bytes
        let limit =
            switch self.phase {
            case .open: self.truncates ? self.maximumTruncated : self.maximumStanza
            case .start, .declared, .ended, .failed: Self.maximumHeader
            }
        guard length <= limit else { throw XMPPStreamError(.policyViolation, "it has more than \(limit) bytes") }
        if isWhole { self.length = length }
    }

    /// Returns whether a stanza of this length is so long that its content is discarded.
    ///
    /// Without ``truncates``, ``count(_:isWhole:)`` has already thrown an error for such a length.
    private func isTooLong(_ length: Int) -> Bool {
        guard case .open = self.phase else { return false }
        return length > self.maximumStanza
    }

    private mutating func shorten() {
        let waiting = self.bytes.count - self.position
        guard self.isTooLong(self.length + waiting) else { return }
        self.truncate()
        let excess = waiting - XMLTokenScanner.beginning - XMLTokenScanner.ending
        guard excess > 0 else { return }
        let start = self.position + XMLTokenScanner.beginning
        self.bytes.removeSubrange(start..<(start + excess))
        self.scanner.forget(excess)
        self.length += excess
    }

    private mutating func event(
        _ token: XMLToken,
        _ bytes: ArraySlice<UInt8>
    ) throws(XMPPStreamError) -> XMPPStreamEvent? {
        // The result depends only on where the token ends, not on the chunks in which it arrived.
        let isLeftOut = self.isTooLong(self.length)
        if isLeftOut { self.truncate() }
        switch token {
        case .tag: return try self.tag(isLeftOut ? Self.bareTag(bytes) : self.readTag(bytes))
        case .characters: try self.add(isLeftOut ? "" : Self.characters(bytes, .text))
        case .section:
            let start = XMLTokenScanner.sectionStart.count
            let text = bytes.dropFirst(start).dropLast(XMLTokenScanner.sectionEnd.count)
            try self.add(isLeftOut ? "" : Self.characters(text, .section))
        case .declaration:
            guard case .start = self.phase else {
                throw XMPPStreamError(.restrictedXML, "the declaration of XML is not at the beginning")
            }
            try Self.check(declaration: bytes)
            self.phase = .declared
        }
        return nil
    }

    private func readTag(_ bytes: ArraySlice<UInt8>) throws(XMPPStreamError) -> XMLTag {
        do throws(XMLFault) {
            return try XMLTag(bytes)
        } catch {
            guard self.truncates, error.kind == .exceedsLimit else { throw XMPPStreamError(error) }
            return try Self.bareTag(bytes)
        }
    }

    private static func bareTag(_ bytes: ArraySlice<UInt8>) throws(XMPPStreamError) -> XMLTag {
        try Self.xml { () throws(XMLFault) in try XMLTag(leavingOutAttributesOf: bytes) }
    }

    private static func characters(
        _ bytes: ArraySlice<UInt8>,
        _ place: XMLCharacters.Place
    ) throws(XMPPStreamError) -> String {
        try Self.xml { () throws(XMLFault) in try XMLCharacters.decode(bytes, place) }
    }

    /// Returns the result of `body`, and converts an ``XMLFault`` that it throws into a stream error.
    private static func xml<Value>(_ body: () throws(XMLFault) -> Value) throws(XMPPStreamError) -> Value {
        do throws(XMLFault) {
            return try body()
        } catch {
            throw XMPPStreamError(error)
        }
    }

    private mutating func add(_ text: String) throws(XMPPStreamError) {
        guard !self.open.isEmpty else { throw XMPPStreamError(.badFormat, "it has text between stanzas") }
        if !self.isTruncated { self.open[self.open.count - 1].element.text += text }
    }

    private static func check(declaration: ArraySlice<UInt8>) throws(XMPPStreamError) {
        let start = XMLTokenScanner.declarationStart.count
        // The attributes of the XML declaration have the same syntax as those of a tag.
        let attributes = declaration.dropFirst(start).dropLast(2)
        guard let first = attributes.first, XMLCharacters.isSpace(first) else {
            throw XMPPStreamError(.restrictedXML, "it has a processing instruction")
        }
        let bytes: ArraySlice = [UInt8(ascii: "<"), UInt8(ascii: "x")] + attributes + [UInt8(ascii: ">")]
        let tag = try Self.xml { () throws(XMLFault) in try XMLTag(bytes) }
        for attribute in tag.attributes where attribute.name == "encoding" {
            guard attribute.value.lowercased() == "utf-8" else {
                throw XMPPStreamError(.unsupportedEncoding, "its encoding is not UTF-8")
            }
        }
        guard tag.kind == .start, tag.attributes.first.map({ $0.name == "version" && $0.value == "1.0" }) ?? false
        else {
            throw XMPPStreamError(.notWellFormed, "the declaration of XML has no version 1.0")
        }
    }
}

// MARK: - Elements

extension XMPPStreamParser {
    private mutating func tag(_ tag: XMLTag) throws(XMPPStreamError) -> XMPPStreamEvent? {
        switch self.phase {
        case .start, .declared: return try self.header(tag)
        case .open(let name):
            switch tag.kind {
            case .end where self.open.isEmpty:
                guard tag.name == name else { throw Self.wrongEnd }
                self.phase = .ended
                return .streamEnd
            case .end: return try self.close(tag.name)
            case .start:
                try self.begin(tag)
                return nil
            case .empty:
                try self.begin(tag)
                return try self.close(tag.name)
            }
        case .ended, .failed: return nil
        }
    }

    private mutating func header(_ tag: XMLTag) throws(XMPPStreamError) -> XMPPStreamEvent {
        guard tag.kind == .start else { throw XMPPStreamError(.badFormat, "it does not begin with a stream") }
        var (element, _) = try self.scope.enter(tag)
        guard element.has("stream", XMPPStream.namespace) else {
            throw XMPPStreamError(.invalidNamespace, "it does not begin with a stream")
        }
        element["xmlns"] = self.scope.defaultNamespace
        self.phase = .open(tag.name)
        self.length = 0
        return .streamStart(element)
    }

    private mutating func begin(_ tag: XMLTag) throws(XMPPStreamError) {
        self.elements += 1
        self.elementsRead += 1
        if !self.isTruncated {
            let outside = self.scope.count
            do throws(XMPPStreamError) {
                let (element, scope) = try self.enter(tag)
                self.open.append(OpenElement(element: element, name: tag.name, scope: scope))
                return
            } catch  where self.truncates {
                self.scope.leave(to: outside)
                self.truncate()
            }
        }
        guard self.open.isEmpty else {
            self.hidden += 1
            return
        }
        let element = self.scope.bareElement(tag)
        self.open.append(OpenElement(element: element, name: tag.name, scope: self.scope.count))
    }

    private mutating func enter(_ tag: XMLTag) throws(XMPPStreamError) -> (XMLElement, Int) {
        guard tag.isWhole else { throw XMPPStreamError(.policyViolation, "an element has too much") }
        guard self.open.count < Self.maximumDepth else {
            throw XMPPStreamError(.policyViolation, "its elements are nested more than \(Self.maximumDepth) deep")
        }
        guard self.elements <= Self.maximumElements else {
            throw XMPPStreamError(.policyViolation, "it has more than \(Self.maximumElements) elements")
        }
        return try self.scope.enter(tag)
    }

    /// Discards the content of the current stanza, or of the stanza that is about to begin.
    private mutating func truncate() {
        guard !self.isTruncated else { return }
        self.isTruncated = true
        guard !self.open.isEmpty else { return }
        self.hidden = self.open.count - 1
        self.open.removeLast(self.hidden)
        (self.open[0].element.text, self.open[0].element.children) = ("", [])
    }

    private mutating func close(_ name: String) throws(XMPPStreamError) -> XMPPStreamEvent? {
        guard self.hidden == 0 else {
            self.hidden -= 1
            return nil
        }
        guard let closed = self.open.popLast(), closed.name == name else { throw Self.wrongEnd }
        self.scope.leave(to: closed.scope)
        guard self.open.isEmpty else {
            self.open[self.open.count - 1].element.children.append(closed.element)
            return nil
        }
        (self.length, self.elements, self.isTruncated) = (0, 0, false)
        return .stanza(closed.element)
    }

    private static var wrongEnd: XMPPStreamError {
        XMPPStreamError(.notWellFormed, "an end tag is not that of the open element")
    }
}

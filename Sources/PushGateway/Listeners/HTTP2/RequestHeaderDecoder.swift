import Foundation
import PushWire

/// What a header block says besides the fields that are kept.
struct RequestHead {
    /// `content-length`; negative where there was none.
    var contentLength = -1
    /// One bit per pseudo-header that came.
    var pseudo: UInt8 = 0
    /// Breaks a rule of RFC 9113 section 8.2 or 8.3.
    var isMalformed = false
    /// Of all fields, in bytes as RFC 9113 section 6.5.2 counts them.
    var listSize = 0
    /// The list is longer than announced; its fields were not all looked at.
    var isTooLong: Bool { self.listSize > RequestHeaderDecoder.maximumListSize }

    /// Whether the pseudo-headers of a request are there (RFC 9113 section 8.3.1). CONNECT has no path and no scheme.
    func beginsRequest(_ request: ProviderRequest) -> Bool {
        let path = RequestField.Name.path.bit | RequestField.Name.scheme.bit
        guard self.pseudo & RequestField.Name.method.bit != 0 else { return false }
        if self.pseudo & path == path { return !request.path.isEmpty && request.method != "CONNECT" }
        return self.pseudo & path == 0 && request.method == "CONNECT"
    }
}

/// Decodes the header blocks of requests (RFC 7541), and keeps only the fields that mean something here.
///
/// The dynamic table holds each value as the text that requests then share. Checked against NIOHPACK in the tests and by
/// the fuzz target.
struct RequestHeaderDecoder: Sendable {
    /// The block cannot be decoded, and with it no later block of the connection.
    struct Failure: Error {}

    /// Largest header list taken, in bytes as RFC 9113 section 6.5.2 counts them; announced to the peer (reference 1.3).
    static let maximumListSize = 8000

    private var table = HeaderTable<RequestField>()
    private var scratch: [UInt8] = []
    private var authorization = RepeatedValue()
    private var topic = RepeatedValue()

    /// The bytes that the tables hold.
    var heldBytes: Int { self.table.size + self.authorization.size + self.topic.size }

    /// Reads a complete header block; its fields go into `request`.
    mutating func decode(
        _ block: borrowing Span<UInt8>,
        into request: inout ProviderRequest
    ) throws(Failure) -> RequestHead {
        var head = RequestHead()
        var hasRegular = false
        var offset = 0
        var listSize = 0
        var mayResize = true
        while offset < block.count {
            let first = block[offset]
            if first & 0xe0 == 0x20 {
                guard mayResize, let size = HeaderBlock.integer(block, at: &offset, prefix: 5),
                    self.table.resize(to: size)
                else { throw Failure() }
                continue
            }
            mayResize = false
            let field: RequestField
            if first & 0x80 != 0 {
                guard let index = HeaderBlock.integer(block, at: &offset, prefix: 7),
                    let known = self.table.field(at: index)
                else { throw Failure() }
                field = known
            } else {
                let isIndexed = first & 0x40 != 0
                field = try self.literal(block, at: &offset, prefix: isIndexed ? 6 : 4)
                if isIndexed { self.table.insert(field) }
            }
            listSize += field.size
            if listSize <= Self.maximumListSize { head.take(field, into: &request, after: &hasRegular) }
        }
        head.listSize = listSize
        return head
    }

    private mutating func literal(
        _ block: borrowing Span<UInt8>,
        at offset: inout Int,
        prefix: Int
    ) throws(Failure) -> RequestField {
        guard let index = HeaderBlock.integer(block, at: &offset, prefix: prefix) else { throw Failure() }
        var name: RequestField.Name
        let nameLength: Int
        if index == 0 {
            guard let (range, isHuffman) = HeaderBlock.string(block, at: &offset) else { throw Failure() }
            (name, nameLength) = try self.withBytes(block.extracting(range), isHuffman) { (.init($0), $0.count) }
        } else {
            guard let known = self.table.field(at: index) else { throw Failure() }
            (name, nameLength) = (known.name, known.nameLength)
        }
        guard let (range, isHuffman) = HeaderBlock.string(block, at: &offset) else { throw Failure() }
        let bytes = block.extracting(range)
        if name.repeatsLongValue, let known = self.repeated(name, bytes, isHuffman) {
            return RequestField(name: name, nameLength: nameLength, valueLength: known.utf8.count, value: known)
        }
        let keeps = name.hasValue
        let (value, valueLength) = try self.withBytes(bytes, isHuffman) { value -> (String, Int) in
            if !value.isFieldValue { name = .malformed }
            return (keeps ? String(decoding: value, as: UTF8.self) : "", value.count)
        }
        if name.repeatsLongValue, value.utf8.count == valueLength {
            self.remember(name, bytes, isHuffman, value)
        }
        return RequestField(name: name, nameLength: nameLength, valueLength: valueLength, value: value)
    }

    /// The bytes of a string literal, decoded.
    private mutating func withBytes<Result>(
        _ bytes: borrowing Span<UInt8>,
        _ isHuffman: Bool,
        _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) throws(Failure) -> Result {
        guard isHuffman else { return bytes.withUnsafeBufferPointer(body) }
        self.scratch.removeAll(keepingCapacity: true)
        guard HuffmanCode.shared.decode(bytes, into: &self.scratch) else { throw Failure() }
        return self.scratch.withUnsafeBufferPointer(body)
    }

    // MARK: Values that come again

    private func repeated(_ name: RequestField.Name, _ bytes: borrowing Span<UInt8>, _ isHuffman: Bool) -> String? {
        name == .topic ? self.topic.value(of: bytes, isHuffman) : self.authorization.value(of: bytes, isHuffman)
    }

    private mutating func remember(
        _ name: RequestField.Name,
        _ bytes: borrowing Span<UInt8>,
        _ isHuffman: Bool,
        _ value: String
    ) {
        let encoded = bytes.withUnsafeBufferPointer { Array($0) }
        let repeated = RepeatedValue(encoded: encoded, isHuffman: isHuffman, value: value)
        if name == .topic { self.topic = repeated } else { self.authorization = repeated }
    }

    /// The last literal of a field, as it came and as text: the next request tends to bring the same.
    private struct RepeatedValue: Sendable {
        var encoded: [UInt8] = []
        var isHuffman = false
        var value = ""

        var size: Int { self.encoded.count + self.value.utf8.count }

        /// `nil` for other bytes than the last.
        func value(of bytes: borrowing Span<UInt8>, _ isHuffman: Bool) -> String? {
            guard bytes.count == self.encoded.count, isHuffman == self.isHuffman, bytes.count > 0 else { return nil }
            let isSame = self.encoded.withUnsafeBytes { known in
                bytes.withUnsafeBufferPointer { new in
                    guard let known = known.baseAddress, let new = new.baseAddress else { return false }
                    return memcmp(known, new, bytes.count) == 0
                }
            }
            return isSame ? self.value : nil
        }
    }
}

extension RequestHead {
    /// Looks at one field, and gives it to the request if it is one of its.
    fileprivate mutating func take(
        _ field: RequestField,
        into request: inout ProviderRequest,
        after hasRegular: inout Bool
    ) {
        if field.name.isPseudo {
            if hasRegular || self.pseudo & field.name.bit != 0 { self.isMalformed = true }
            self.pseudo |= field.name.bit
            return request.add(field.name, field.value)
        }
        hasRegular = true
        switch field.name {
        case .other: break
        case .malformed: self.isMalformed = true
        case .te: if field.value != "trailers" { self.isMalformed = true }
        case .contentLength: self.takeContentLength(field.value)
        default: request.add(field.name, field.value)
        }
    }

    private mutating func takeContentLength(_ text: String) {
        var length = 0
        for digit in text.utf8 {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit), length < 1 << 40 else {
                return self.isMalformed = true
            }
            length = length * 10 + Int(digit - UInt8(ascii: "0"))
        }
        if text.isEmpty || self.contentLength >= 0 && self.contentLength != length { self.isMalformed = true }
        self.contentLength = length
    }
}

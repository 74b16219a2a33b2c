import PushWire

/// What a push service's reply says in its header fields (reference 1.8).
struct ResponseHead: Hashable, Sendable {
    /// 0 where there was no `:status`, or one that is no number.
    var status = 0
    /// `apns-id`.
    var id: String?
    /// `apns-unique-id`.
    var uniqueID: String?
    /// `retry-after`, as text.
    var retryAfter: String?
}

/// Decodes the header blocks of replies (RFC 7541), and keeps only the four fields that mean something here.
///
/// The dynamic table holds the size of every entry, as the RFC counts it, but the value of those four only. Checked
/// against NIOHPACK in the tests and by the fuzz target.
struct ResponseHeaderDecoder: Sendable {
    enum Failure: Error { case malformed, listTooLong }

    /// Largest header list taken, in bytes as RFC 9113 section 6.5.2 counts them; announced to the peer.
    static let maximumListSize = 16_384

    private var table = HeaderTable<ResponseField>()
    private var scratch: [UInt8] = []

    /// Reads a complete header block.
    mutating func decode(_ block: borrowing Span<UInt8>) throws(Failure) -> ResponseHead {
        var head = ResponseHead()
        var offset = 0
        var listSize = 0
        var mayResize = true
        while offset < block.count {
            let first = block[offset]
            if first & 0xe0 == 0x20 {
                guard mayResize else { throw .malformed }
                let size = try Self.integer(block, at: &offset, prefix: 5)
                guard self.table.resize(to: size) else { throw .malformed }
                continue
            }
            mayResize = false
            let field: ResponseField
            if first & 0x80 != 0 {
                let index = try Self.integer(block, at: &offset, prefix: 7)
                guard let known = self.table.field(at: index) else { throw .malformed }
                field = known
            } else {
                let isIndexed = first & 0x40 != 0
                field = try self.literal(block, at: &offset, prefix: isIndexed ? 6 : 4)
                if isIndexed { self.table.insert(field) }
            }
            listSize += field.size
            guard listSize <= Self.maximumListSize else { throw .listTooLong }
            field.apply(to: &head)
        }
        return head
    }

    private mutating func literal(
        _ block: borrowing Span<UInt8>,
        at offset: inout Int,
        prefix: Int
    ) throws(Failure) -> ResponseField {
        let index = try Self.integer(block, at: &offset, prefix: prefix)
        let name: ResponseField.Name
        let nameLength: Int
        if index == 0 {
            try self.string(block, at: &offset)
            name = ResponseField.Name(self.scratch)
            nameLength = self.scratch.count
        } else {
            guard let known = self.table.field(at: index) else { throw .malformed }
            (name, nameLength) = (known.name, known.nameLength)
        }
        try self.string(block, at: &offset)
        return ResponseField(name: name, nameLength: nameLength, value: self.scratch)
    }

    /// Leaves the string's bytes in `scratch`.
    private mutating func string(_ block: borrowing Span<UInt8>, at offset: inout Int) throws(Failure) {
        guard let (range, isHuffman) = HeaderBlock.string(block, at: &offset) else { throw .malformed }
        self.scratch.removeAll(keepingCapacity: true)
        let bytes = block.extracting(range)
        if isHuffman {
            guard HuffmanCode.shared.decode(bytes, into: &self.scratch) else { throw .malformed }
        } else {
            for index in bytes.indices { self.scratch.append(bytes[index]) }
        }
    }

    private static func integer(
        _ block: borrowing Span<UInt8>,
        at offset: inout Int,
        prefix: Int
    ) throws(Failure) -> Int {
        guard let value = HeaderBlock.integer(block, at: &offset, prefix: prefix) else { throw .malformed }
        return value
    }
}

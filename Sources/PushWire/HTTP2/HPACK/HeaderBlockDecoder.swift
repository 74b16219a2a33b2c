import Foundation

/// The error for a header block that cannot be decoded. After it, no block of the connection can be decoded (RFC 7541
/// section 2.2).
struct HeaderBlockError: Error {}

/// Decodes the header blocks of one connection (RFC 7541), and keeps only the fields that its end uses. The dynamic
/// table stores each value as a string, which the decoded lists share. The tests and the fuzz targets compare the
/// decoder with NIOHPACK.
struct HeaderBlockDecoder<List: HeaderList>: Sendable {
    typealias Field = List.Field

    private var table = HeaderTable<Field>()
    private var scratch: [UInt8] = []
    private var repeated = [RepeatedLiteral](repeating: RepeatedLiteral(), count: Field.Name.repeatedNames)

    /// The memory that the tables and the stored literals occupy, in bytes.
    var heldBytes: Int { self.repeated.reduce(self.table.size) { $0 + $1.encoded.count * 2 } }

    /// Decodes a complete header block.
    /// - Throws: ``HeaderBlockError`` for a malformed block.
    mutating func decode(_ block: borrowing Span<UInt8>) throws(HeaderBlockError) -> List {
        var list = List()
        var offset = 0
        var size = 0
        // Dynamic table size updates are allowed only at the start of a block (RFC 7541 section 4.2).
        var mayResize = true
        while offset < block.count {
            let first = block[offset]
            if first & 0xe0 == 0x20 {
                guard mayResize, let size = HPACKPrimitives.integer(block, at: &offset, prefix: 5),
                    self.table.resize(to: size)
                else { throw HeaderBlockError() }
                continue
            }
            mayResize = false
            let field: Field
            if first & 0x80 != 0 {
                guard let index = HPACKPrimitives.integer(block, at: &offset, prefix: 7),
                    let known = self.table.field(at: index)
                else { throw HeaderBlockError() }
                field = known
            } else {
                let isIndexed = first & 0x40 != 0
                field = try self.literal(block, at: &offset, prefix: isIndexed ? 6 : 4)
                if isIndexed { self.table.insert(field) }
            }
            size += field.size
            if size <= List.maximumSize { list.add(field) }
        }
        list.size = size
        return list
    }

    private mutating func literal(
        _ block: borrowing Span<UInt8>,
        at offset: inout Int,
        prefix: Int
    ) throws(HeaderBlockError) -> Field {
        guard let index = HPACKPrimitives.integer(block, at: &offset, prefix: prefix) else { throw HeaderBlockError() }
        let name: Field.Name
        let nameLength: Int
        if index == 0 {
            guard let (range, isHuffman) = HPACKPrimitives.string(block, at: &offset) else { throw HeaderBlockError() }
            (name, nameLength) = try self.withBytes(block.extracting(range), isHuffman) { (.init($0), $0.count) }
        } else {
            guard let known = self.table.field(at: index) else { throw HeaderBlockError() }
            (name, nameLength) = (known.name, known.nameLength)
        }
        guard let (range, isHuffman) = HPACKPrimitives.string(block, at: &offset) else { throw HeaderBlockError() }
        let bytes = block.extracting(range)
        guard let repetition = name.repetition else {
            return try self.withBytes(bytes, isHuffman) { Field(name: name, nameLength: nameLength, value: $0) }
        }
        if let field = self.repeated[repetition].field(of: bytes, isHuffman) { return field }
        let field = try self.withBytes(bytes, isHuffman) { Field(name: name, nameLength: nameLength, value: $0) }
        let encoded = bytes.withUnsafeBufferPointer { Array($0) }
        self.repeated[repetition] = RepeatedLiteral(encoded: encoded, isHuffman: isHuffman, field: field)
        return field
    }

    /// Calls `body` with the decoded bytes of a string literal, and returns its result.
    /// - Throws: ``HeaderBlockError`` for an invalid Huffman code.
    private mutating func withBytes<Result>(
        _ bytes: borrowing Span<UInt8>,
        _ isHuffman: Bool,
        _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) throws(HeaderBlockError) -> Result {
        guard isHuffman else { return bytes.withUnsafeBufferPointer(body) }
        self.scratch.removeAll(keepingCapacity: true)
        guard HuffmanCode.shared.decode(bytes, into: &self.scratch) else { throw HeaderBlockError() }
        return self.scratch.withUnsafeBufferPointer(body)
    }

    /// The last literal of a field in encoded and decoded form, because the next request usually repeats it.
    private struct RepeatedLiteral: Sendable {
        var encoded: [UInt8] = []
        var isHuffman = false
        var field: Field?

        /// Returns the decoded field if the literal has the same bytes as the last one, or otherwise `nil`.
        func field(of bytes: borrowing Span<UInt8>, _ isHuffman: Bool) -> Field? {
            guard bytes.count == self.encoded.count, isHuffman == self.isHuffman, bytes.count > 0 else { return nil }
            let isSame = self.encoded.withUnsafeBytes { known in
                bytes.withUnsafeBufferPointer { new in
                    guard let known = known.baseAddress, let new = new.baseAddress else { return false }
                    return memcmp(known, new, bytes.count) == 0
                }
            }
            return isSame ? self.field : nil
        }
    }
}

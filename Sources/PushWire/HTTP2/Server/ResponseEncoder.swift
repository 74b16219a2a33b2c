import NIOCore

/// Writes the HEADERS frames of responses. It uses neither the dynamic table nor Huffman coding, so that the bytes for
/// one stream do not depend on any other.
struct ResponseEncoder: Sendable {
    private static let id = Self.name("apns-id")
    private static let requestID = Self.name("apns-request-id")
    private static let uniqueID = Self.name("apns-unique-id")
    private static let channelID = Self.name("apns-channel-id")
    // Literals without indexing, whose names are at indexes 53, 31 and 8 of the static table.
    private static let retryAfter: [UInt8] = [0x0f, 53 - 15]
    private static let contentTypeJSON: [UInt8] = [0x0f, 31 - 15, 16] + Array("application/json".utf8)
    private static let status: [UInt8] = [0x08]
    /// The size, in bytes, that is reserved for the names, the overhead and the short values of all fields.
    private static let fixedSize = 256

    /// The size that the client assumes for the dynamic table, in bytes.
    private var tableSize = HTTP2Constants.headerTableSize
    private var mustShrink = false

    /// Applies the client's setting `HEADER_TABLE_SIZE`. A smaller size must be acknowledged at the start of the next
    /// header block (RFC 7541 section 4.2). The acknowledged size is 0, because the table is not used.
    mutating func setTableSize(_ size: Int) {
        guard size < self.tableSize else { return }
        self.tableSize = 0
        self.mustShrink = true
    }

    /// Writes the HEADERS frame of a response. The frame ends the stream if there is no body, or if the body is omitted
    /// because the method is HEAD.
    mutating func write(
        _ response: ProviderResponse,
        streamID: UInt32,
        omitsBody: Bool = false,
        into output: inout ByteBuffer
    ) {
        let hasBody = response.body?.isEmpty == false
        let shrinks = self.mustShrink
        self.mustShrink = false
        let frame = output.beginHeaders(streamID: streamID, endsStream: omitsBody || !hasBody)
        output.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.size(response)) { target in
            var block = HeaderBlockWriter(target)
            if shrinks { block.write(0x20) }
            Self.write(response, into: &block)
            if hasBody { block.write(Self.contentTypeJSON) }
            return block.count
        }
        output.endFrame(at: frame)
    }

    private static func write(_ response: ProviderResponse, into block: inout HeaderBlockWriter) {
        if let position = Self.position(ofStatus: response.status) {
            block.write(0x80 | position)
        } else {
            block.write(Self.status)
            block.write(string: String(response.status))
        }
        if let value = response.apnsID { Self.write(Self.id, value, into: &block) }
        if let value = response.requestID { Self.write(Self.requestID, value, into: &block) }
        if let value = response.uniqueID { Self.write(Self.uniqueID, value, into: &block) }
        if let value = response.channelID { Self.write(Self.channelID, value, into: &block) }
        if let value = response.retryAfter { Self.write(Self.retryAfter, String(value), into: &block) }
    }

    private static func write(_ name: [UInt8], _ value: String, into block: inout HeaderBlockWriter) {
        block.write(name)
        block.write(string: value)
    }

    private static func position(ofStatus status: Int) -> UInt8? {
        switch status {
        case 200: 8
        case 204: 9
        case 400: 12
        case 404: 13
        case 500: 14
        default: nil
        }
    }

    private static func size(_ response: ProviderResponse) -> Int {
        Self.fixedSize + (response.apnsID?.utf8.count ?? 0) + (response.requestID?.utf8.count ?? 0)
            + (response.uniqueID?.utf8.count ?? 0) + (response.channelID?.utf8.count ?? 0)
    }

    /// Returns the encoding of the beginning of a literal without indexing, which is its type and its name.
    private static func name(_ name: String) -> [UInt8] {
        var bytes: [UInt8] = [0]
        bytes.appendString(name)
        return bytes
    }
}

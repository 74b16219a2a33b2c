import NIOCore
import PushWire

/// Writes the HEADERS frames of answers, without the dynamic table and without Huffman code: what is written for one
/// stream depends on no other.
struct ResponseEncoder: Sendable {
    private static let id = Self.name("apns-id")
    private static let requestID = Self.name("apns-request-id")
    private static let uniqueID = Self.name("apns-unique-id")
    private static let channelID = Self.name("apns-channel-id")
    /// Positions 53, 31 and 8 of the static table, as literals without indexing.
    private static let retryAfter: [UInt8] = [0x0f, 53 - 15]
    private static let contentTypeJSON: [UInt8] = [0x0f, 31 - 15, 16] + Array("application/json".utf8)
    private static let status: [UInt8] = [0x08]
    /// Names, overhead and the short values of all fields together.
    private static let fixedSize = 256

    /// What the client believes our table to be, in bytes.
    private var tableSize = HTTP2Constants.headerTableSize
    private var mustShrink = false

    /// The client's setting `HEADER_TABLE_SIZE`. A smaller table must be confirmed at the start of the next block
    /// (RFC 7541 section 4.2); we use none at all.
    mutating func peerTableSize(_ size: Int) {
        guard size < self.tableSize else { return }
        self.tableSize = 0
        self.mustShrink = true
    }

    /// Writes the head of an answer; it ends the stream if there is no body, or if the body is left out.
    mutating func write(
        _ answer: ProviderResponse,
        streamID: UInt32,
        omitsBody: Bool = false,
        into output: inout ByteBuffer
    ) {
        let hasBody = answer.body?.isEmpty == false
        let endsStream = omitsBody || !hasBody
        let start = output.writerIndex
        let shrinks = self.mustShrink
        self.mustShrink = false
        output.write(
            FrameHeader(
                length: 0,
                type: .headers,
                flags: endsStream ? [.endHeaders, .endStream] : .endHeaders,
                streamID: streamID
            )
        )
        let length = output.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.size(answer)) { target in
            var block = HeaderBlockWriter(target)
            if shrinks { block.write(0x20) }
            Self.write(answer, into: &block)
            if hasBody { block.write(Self.contentTypeJSON) }
            return block.count
        }
        output.setFrameLength(length, at: start)
    }

    private static func write(_ answer: ProviderResponse, into block: inout HeaderBlockWriter) {
        if let position = Self.position(ofStatus: answer.status) {
            block.write(0x80 | position)
        } else {
            block.write(Self.status)
            block.write(string: String(answer.status))
        }
        if let value = answer.apnsID { Self.write(Self.id, value, into: &block) }
        if let value = answer.requestID { Self.write(Self.requestID, value, into: &block) }
        if let value = answer.uniqueID { Self.write(Self.uniqueID, value, into: &block) }
        if let value = answer.channelID { Self.write(Self.channelID, value, into: &block) }
        if let value = answer.retryAfter { Self.write(Self.retryAfter, String(value), into: &block) }
    }

    private static func write(_ name: [UInt8], _ value: String, into block: inout HeaderBlockWriter) {
        block.write(name)
        block.write(string: value)
    }

    /// In the static table.
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

    /// An upper bound.
    private static func size(_ answer: ProviderResponse) -> Int {
        Self.fixedSize + (answer.apnsID?.utf8.count ?? 0) + (answer.requestID?.utf8.count ?? 0)
            + (answer.uniqueID?.utf8.count ?? 0) + (answer.channelID?.utf8.count ?? 0)
    }

    /// The start of a literal without indexing, with its name.
    private static func name(_ name: String) -> [UInt8] {
        var bytes: [UInt8] = [0]
        bytes.appendString(name)
        return bytes
    }
}

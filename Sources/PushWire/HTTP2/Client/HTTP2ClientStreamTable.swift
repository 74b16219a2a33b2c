import NIOCore

/// An open stream of a connection to a push service.
struct HTTP2ClientStream: StreamTableEntry {
    let id: UInt32
    let ticket: Int
    let deadline: NIODeadline
    var sendWindow: HTTP2SendWindow
    /// A Boolean value that indicates whether the request has been sent completely.
    var isSent = true
    /// A Boolean value that indicates whether ``HTTP2ClientStreamTable`` stores a part of the request or response.
    fileprivate var hasPart = false

    init(id: UInt32, ticket: Int, deadline: NIODeadline, sendWindow: HTTP2SendWindow) {
        (self.id, self.ticket, self.deadline, self.sendWindow) = (id, ticket, deadline, sendWindow)
    }
}

/// The open streams of a connection to a push service, with their incomplete requests and responses. Incomplete
/// messages are stored separately, because most requests and responses are sent and received in one piece.
struct HTTP2ClientStreamTable {
    /// The unsent rest of a request, or the received beginning of a response.
    private struct Part {
        var response: HTTP2Response?
        var unsentBody: ByteBuffer?
    }

    private(set) var table = StreamTable<HTTP2ClientStream>()
    private var parts: [UInt32: Part] = [:]
    private var blocked: Set<UInt32> = []
    private var nextID: UInt32
    private let maximumBody: Int

    /// Creates a table with `firstID` as the first stream id, and `maximumBody` bytes as the maximum length of a body.
    init(firstID: UInt32, maximumBody: Int) {
        self.nextID = firstID | 1
        self.maximumBody = maximumBody
    }

    var count: Int { self.table.count }

    var unusedIDs: Int {
        self.nextID > HTTP2Constants.largestStreamID ? 0 : Int((HTTP2Constants.largestStreamID - self.nextID) / 2) + 1
    }

    /// The streams that wait for a flow-control window, in the order in which they were opened.
    var blockedStreams: [UInt32] { self.blocked.isEmpty ? [] : self.blocked.sorted() }

    subscript(position: Int) -> HTTP2ClientStream {
        get { self.table[position] }
        _modify { yield &self.table[position] }
    }

    func position(of id: UInt32) -> Int? { self.table.position(of: id) }

    mutating func open(ticket: Int, deadline: NIODeadline, sendWindow: HTTP2SendWindow) -> UInt32 {
        defer { self.nextID &+= 2 }
        let id = self.nextID
        self.table.insert(HTTP2ClientStream(id: id, ticket: ticket, deadline: deadline, sendWindow: sendWindow))
        return id
    }

    /// Removes a stream.
    /// - Returns: The stream, with its response if one has begun, or `nil` if the stream is not open.
    mutating func remove(_ id: UInt32) -> (stream: HTTP2ClientStream, response: HTTP2Response?)? {
        guard let stream = self.table.remove(id) else { return nil }
        return (stream, stream.hasPart ? self.removePart(of: stream) : nil)
    }

    mutating func removeAll() -> [(stream: HTTP2ClientStream, response: HTTP2Response?)] {
        self.table.removeAll().map { ($0, self.removePart(of: $0)) }
    }

    private mutating func removePart(of stream: HTTP2ClientStream) -> HTTP2Response? {
        if !stream.isSent { self.blocked.remove(stream.id) }
        return self.parts.removeValue(forKey: stream.id)?.response
    }

    // MARK: Requests

    func unsentBody(of id: UInt32) -> ByteBuffer? { self.parts[id]?.unsentBody }

    /// Stores the rest of a request's body, which waits for a window. If the rest is empty, the request is complete.
    mutating func setUnsentBody(_ body: ByteBuffer, at position: Int) {
        let isSent = body.readableBytes == 0
        if isSent, self.table[position].isSent { return }
        let id = self.table[position].id
        self.table[position].isSent = isSent
        self.table[position].hasPart = true
        self.parts[id, default: Part()].unsentBody = isSent ? nil : body
        if isSent { self.blocked.remove(id) } else { self.blocked.insert(id) }
    }

    // MARK: Responses

    /// Returns whether the final header block of the response at a position has arrived.
    func hasResponse(at position: Int) -> Bool {
        self.table[position].hasPart && self.parts[self.table[position].id]?.response != nil
    }

    /// Stores a response that is incomplete, or whose request has not been sent completely.
    mutating func setResponse(_ head: ResponseHead, at position: Int) {
        self.table[position].hasPart = true
        self.parts[self.table[position].id, default: Part()].response = HTTP2Response(head: head)
    }

    /// Appends bytes to the body of a response, up to the maximum length.
    /// - Returns: `true` if all bytes were appended, `false` if the body is too long, so that its end is missing, or
    ///   `nil` if no response has begun.
    mutating func appendBody(_ data: borrowing Span<UInt8>, to id: UInt32) -> Bool? {
        guard let length = self.parts[id]?.response?.body.count else { return nil }
        // Many responses end with an empty DATA frame.
        guard !data.isEmpty else { return true }
        let room = self.maximumBody - length
        data.extracting(first: min(room, data.count)).withUnsafeBufferPointer {
            self.parts[id]?.response?.body.append(contentsOf: $0)
        }
        return data.count <= room
    }

    /// Returns whether the stream is open, or was open earlier.
    func hasOpened(_ id: UInt32) -> Bool { id & 1 == 1 && id < self.nextID }
}

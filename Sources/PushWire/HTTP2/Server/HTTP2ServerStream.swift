import NIOCore

/// An open stream of a provider's connection.
struct HTTP2ServerStream: StreamTableEntry {
    /// The state of the request and its response.
    enum State {
        /// A state in which the request is incomplete, and is stored in this slot of ``IncompleteRequestTable``.
        case receiving(Int)
        case awaitingResponse
        /// A state in which the response's body waits for a window, and is stored in ``UnsentBodies``.
        case sending
    }

    let id: UInt32
    var sendWindow: HTTP2SendWindow
    var state: State
    /// A Boolean value that indicates whether the method is HEAD, whose response has no body (RFC 9110 section 9.3.2).
    var omitsBody = false
    /// A Boolean value that indicates whether the stream is in the queue of ``UnsentBodies``.
    var isQueued = false
}

/// An incomplete request.
struct IncompleteRequest {
    var stream: UInt32
    var request: ProviderRequest
    /// The value of `content-length`, or -1 if it is absent.
    var contentLength: Int
    var deadline: NIODeadline
    /// The memory that the request occupies, in bytes.
    private(set) var heldBytes: Int
    private var window = HTTP2ReceiveWindow(capacity: HTTP2Constants.defaultWindow)

    init(stream: UInt32, _ head: RequestHead, deadline: NIODeadline) {
        self.stream = stream
        self.request = head.request
        self.contentLength = head.contentLength
        self.deadline = deadline
        self.heldBytes = head.size + Self.overhead
    }

    /// The memory that an incomplete request occupies in addition to its header fields and its body, in bytes.
    private static let overhead = 384

    /// A Boolean value that indicates whether the body has the declared length, or that no length is declared (RFC 9113
    /// section 8.1.1).
    var hasWholeBody: Bool { self.contentLength < 0 || self.request.bodyLength == self.contentLength }

    /// Appends the payload of a DATA frame to the body.
    /// - Parameter length: The length of the payload, including padding.
    /// - Returns: The code of the stream error if the frame violates the protocol, or otherwise `nil`, and the number
    ///   of bytes by which the memory of the request has grown.
    fileprivate mutating func append(
        _ data: borrowing Span<UInt8>,
        length: Int,
        endsStream: Bool
    ) -> (error: HTTP2ErrorCode?, heldBytes: Int) {
        guard self.window.receive(length) else { return (.flowControlError, 0) }
        let before = self.request.body.storageCapacity
        self.request.appendBody(data)
        let heldBytes = self.request.body.storageCapacity - before
        self.heldBytes += heldBytes
        if endsStream { return (self.hasWholeBody ? nil : .protocolError, heldBytes) }
        let isTooLong = self.contentLength >= 0 && self.request.bodyLength > self.contentLength
        return (isTooLong ? .protocolError : nil, heldBytes)
    }

    /// Replenishes the receive window of the stream.
    /// - Returns: The increment of the WINDOW_UPDATE frame to send, or `nil` if none is due.
    mutating func replenish() -> UInt32? { self.window.replenish() }
}

/// The incomplete requests of a connection.
struct IncompleteRequestTable {
    private static let keptSlots = 64

    private var slots = SlotTable<IncompleteRequest>(keptSlots: Self.keptSlots)
    /// The memory that all incomplete requests occupy, in bytes.
    private(set) var heldBytes = 0
    /// The time until which no request can exceed its deadline, so that no check is necessary.
    private(set) var nextCheck = NIODeadline.distantFuture

    subscript(slot: Int) -> IncompleteRequest? {
        _read { yield self.slots[slot] }
        _modify { yield &self.slots[slot] }
    }

    mutating func insert(_ request: IncompleteRequest) -> Int {
        self.heldBytes += request.heldBytes
        self.nextCheck = min(self.nextCheck, request.deadline)
        return self.slots.insert(request)
    }

    mutating func remove(_ slot: Int) -> IncompleteRequest? {
        guard let request = self.slots.remove(slot) else { return nil }
        self.heldBytes -= request.heldBytes
        return request
    }

    /// Appends the payload of a DATA frame to the request in a slot.
    /// - Parameter length: The length of the payload, including padding.
    /// - Returns: The code of the stream error for a frame that violates the protocol, or `nil` if the frame is valid.
    mutating func append(
        _ data: borrowing Span<UInt8>,
        to slot: Int,
        length: Int,
        endsStream: Bool
    ) -> HTTP2ErrorCode? {
        let result = self.slots[slot]?.append(data, length: length, endsStream: endsStream)
        self.heldBytes += result?.heldBytes ?? 0
        return result?.error
    }

    /// Returns the ids of the streams whose requests have exceeded their deadlines, in ascending order.
    mutating func late(now: NIODeadline) -> [UInt32] {
        guard now >= self.nextCheck else { return [] }
        var next = NIODeadline.distantFuture
        var late: [UInt32] = []
        for request in self.slots.values {
            if request.deadline <= now {
                late.append(request.stream)
            } else {
                next = min(next, request.deadline)
            }
        }
        self.nextCheck = next
        return late.sorted()
    }
}

/// The response bodies that wait for a flow-control window.
struct UnsentBodies {
    /// The number of queue entries, beyond twice the number of bodies, above which the entries of ended streams are
    /// removed.
    private static let queueSlack = 64

    private var bodies: [UInt32: ByteBuffer] = [:]
    /// The total length of the unsent bodies, in bytes.
    private(set) var byteCount = 0
    /// The streams whose bodies wait only for the connection's window, and possibly some that have ended.
    private var queue = CircularBuffer<UInt32>()

    var count: Int { self.bodies.count }
    var queueLength: Int { self.queue.count }

    subscript(streamID: UInt32) -> ByteBuffer? { self.bodies[streamID] }

    mutating func set(_ body: ByteBuffer, for streamID: UInt32) {
        self.remove(streamID)
        self.byteCount += body.readableBytes
        if body.readableBytes > 0 { self.bodies[streamID] = body }
    }

    mutating func remove(_ streamID: UInt32) {
        if let body = self.bodies.removeValue(forKey: streamID) { self.byteCount -= body.readableBytes }
    }

    mutating func enqueue(_ streamID: UInt32) {
        // Streams that end while they wait stay in the queue until the window opens or the queue is cleaned up.
        if self.queue.count > 2 * self.bodies.count + Self.queueSlack {
            self.queue.removeAll { self.bodies[$0] == nil }
        }
        self.queue.append(streamID)
    }

    mutating func dequeue() -> UInt32? { self.queue.popFirst() }
}

/// The latest streams that the server ended before the client did. Frames for them may still arrive. They are stored in
/// a ring buffer, so that adding a stream to a full buffer writes only one element.
struct EndedStreams {
    /// The ids, which form a ring once there are ``HTTP2ServerLimits/maximumEndedStreams``.
    private(set) var ids: [UInt32] = []
    private var oldest = 0

    /// Adds a stream. In a full ring, it replaces the oldest stream.
    mutating func insert(_ id: UInt32) {
        guard self.ids.count >= HTTP2ServerLimits.maximumEndedStreams else { return self.ids.append(id) }
        self.ids[self.oldest] = id
        self.oldest = (self.oldest + 1) % self.ids.count
    }

    func contains(_ id: UInt32) -> Bool { self.ids.contains(id) }
}

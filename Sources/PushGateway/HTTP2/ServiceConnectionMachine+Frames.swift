import NIOCore
import PushProtocol

/// Taking bytes apart into frames (RFC 9113 section 4).
extension ServiceConnectionMachine {
    private static let preface = Array(HTTP2Limits.preface.utf8)
    /// What a buffer for incomplete frames may keep when it is empty.
    private static let keptCapacity = 32_768

    /// Bytes from the client, in any portions.
    mutating func received(_ bytes: ByteBuffer, now: NIODeadline) {
        guard self.phase != .finished else { return }
        self.note(now)
        var input = bytes
        let continues = self.incomplete.readableBytes > 0
        if continues {
            self.incomplete.writeImmutableBuffer(bytes)
            input = ByteBuffer()
            swap(&input, &self.incomplete)
        }
        do {
            guard try self.receivePreface(&input) else { return self.keep(&input, continues: continues) }
            let used = try self.receiveFrames(input.readableBytesUInt8Span, now: now)
            guard self.phase != .finished else { return }
            input.moveReaderIndex(forwardBy: used)
            self.noteUnfinished(hasRest: input.readableBytes > 0, hasProgress: used > 0, now: now)
            self.keep(&input, continues: continues)
        } catch {
            self.finish(error.code, error.description)
        }
    }

    /// Keeps the start of a frame for its rest, in the memory that is there.
    private mutating func keep(_ rest: inout ByteBuffer, continues: Bool) {
        if continues {
            swap(&rest, &self.incomplete)
            self.incomplete.discardReadBytes()
        } else if rest.readableBytes > 0 {
            self.incomplete.writeImmutableBuffer(rest)
        }
        if self.incomplete.readableBytes == 0 {
            if self.incomplete.capacity > Self.keptCapacity { self.incomplete = ByteBuffer() }
            self.incomplete.clear()
        }
    }

    /// Returns whether the preface is behind us (RFC 9113 section 3.4).
    private mutating func receivePreface(_ input: inout ByteBuffer) throws(ConnectionViolation) -> Bool {
        guard self.phase == .waitingForPreface else { return true }
        let start = input.readableBytesView.prefix(Self.preface.count)
        guard start.elementsEqual(Self.preface.prefix(start.count)) else {
            throw ConnectionViolation(.protocolError, "the client does not speak HTTP/2")
        }
        guard start.count == Self.preface.count else { return false }
        input.moveReaderIndex(forwardBy: Self.preface.count)
        self.phase = .waitingForSettings
        return true
    }

    /// Returns how many bytes whole frames took.
    private mutating func receiveFrames(
        _ bytes: borrowing Span<UInt8>,
        now: NIODeadline
    ) throws(ConnectionViolation) -> Int {
        var offset = 0
        while self.phase != .finished, let head = FrameHead(bytes, at: offset) {
            guard head.length <= FrameHead.defaultMaximumLength else {
                throw ConnectionViolation(.frameSizeError, "frame over \(FrameHead.defaultMaximumLength) bytes")
            }
            let start = offset + FrameHead.length
            guard bytes.count - start >= head.length else { break }
            offset = start + head.length
            try self.receive(head, bytes.extracting(start..<offset), now: now)
        }
        return offset
    }

    private mutating func receive(
        _ head: FrameHead,
        _ content: borrowing Span<UInt8>,
        now: NIODeadline
    ) throws(ConnectionViolation) {
        let type = FrameType(rawValue: head.type)
        if self.phase == .waitingForSettings, type != .settings || head.flags.contains(.acknowledgement) {
            throw ConnectionViolation(.protocolError, "the first frame is not SETTINGS")
        }
        if self.openBlock != nil, type != .continuation {
            throw ConnectionViolation(.protocolError, "frame inside a header block")
        }
        switch type {
        case .headers: try self.receiveHeaders(head, content, now: now)
        case .data: try self.receiveData(head, content, now: now)
        case .continuation: try self.receiveContinuation(head, content, now: now)
        case .resetStream: try self.receiveReset(head, content)
        case .settings: try self.receiveSettings(head, content, now: now)
        case .ping: try self.receivePing(head, content, now: now)
        case .goAway: try self.receiveGoAway(head, content)
        case .windowUpdate: try self.receiveWindowUpdate(head, content)
        case .priority: try self.receivePriority(head, content)
        case .pushPromise: throw ConnectionViolation(.protocolError, "push promise from a client")
        case nil: try self.spend()
        }
    }

    /// Counts a frame that brings no request nearer to its end.
    mutating func spend(_ cost: Int = 1) throws(ConnectionViolation) {
        guard self.budget.spend(cost) else { throw ConnectionViolation(.enhanceYourCalm, "too many idle frames") }
    }

    private mutating func receivePing(
        _ head: FrameHead,
        _ content: borrowing Span<UInt8>,
        now: NIODeadline
    ) throws(ConnectionViolation) {
        try self.spend()
        guard head.streamID == 0 else { throw ConnectionViolation(.protocolError, "PING on a stream") }
        guard content.count == 8 else { throw ConnectionViolation(.frameSizeError, "PING") }
        guard !head.flags.contains(.acknowledgement) else {
            if content.integer(at: 0) == Self.drainPing { self.refuseNewRequests(now: now) }
            return
        }
        self.output.write(FrameHead(length: 8, type: .ping, flags: .acknowledgement))
        self.output.writeMultipleIntegers(content.integer(at: 0), content.integer(at: 4))
    }

    /// The client goes: what it has asked is answered, then the connection ends.
    private mutating func receiveGoAway(
        _ head: FrameHead,
        _ content: borrowing Span<UInt8>
    ) throws(ConnectionViolation) {
        guard head.streamID == 0 else { throw ConnectionViolation(.protocolError, "GOAWAY on a stream") }
        guard content.count >= 8 else { throw ConnectionViolation(.frameSizeError, "GOAWAY") }
        try self.spend()
        self.clientIsLeaving = true
        self.finishIfDrained()
    }

    /// Ignored, like the service does (reference 1.3), unless it is wrong.
    private mutating func receivePriority(
        _ head: FrameHead,
        _ content: borrowing Span<UInt8>
    ) throws(ConnectionViolation) {
        guard head.streamID != 0 else { throw ConnectionViolation(.protocolError, "PRIORITY on stream 0") }
        try self.spend()
        guard content.count == 5 else { return try self.refusePriority(of: head.streamID, .frameSizeError) }
        let dependency = content.integer(at: 0) & HTTP2Limits.largestStreamID
        if dependency == head.streamID { try self.refusePriority(of: head.streamID, .protocolError) }
    }

    /// Resets the stream alone (RFC 7540 sections 5.3.1 and 6.3), also one that is closed. Of a stream that was never opened
    /// it is the connection's error, as RST_STREAM must not be sent for it (RFC 9113 section 6.4).
    private mutating func refusePriority(
        of streamID: UInt32,
        _ code: HTTP2ErrorCode
    ) throws(ConnectionViolation) {
        try self.checkOpened(streamID, orElse: code)
        if self.streams.position(of: streamID) != nil { return try self.reset(faulty: streamID, code) }
        try self.spend(ServiceConnectionLimits.lostStreamCost)
        if let last = self.goAwayStreamID, streamID > last { return }
        self.output.writeFrame(.resetStream, streamID: streamID, words: code.rawValue)
    }
}

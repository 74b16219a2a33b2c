import NIOCore
import PushWire

/// Taking bytes apart into frames (RFC 9113 section 4).
extension HTTP2ServerStateMachine {
    private static let preface = Array(HTTP2Constants.preface.utf8)
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
    private mutating func receivePreface(_ input: inout ByteBuffer) throws(HTTP2ConnectionError) -> Bool {
        guard self.phase == .waitingForPreface else { return true }
        let start = input.readableBytesView.prefix(Self.preface.count)
        guard start.elementsEqual(Self.preface.prefix(start.count)) else {
            throw HTTP2ConnectionError(.protocolError, "the client does not speak HTTP/2")
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
    ) throws(HTTP2ConnectionError) -> Int {
        var offset = 0
        while self.phase != .finished, let head = FrameHeader(bytes, at: offset) {
            guard head.length <= FrameHeader.defaultMaximumLength else {
                throw HTTP2ConnectionError(.frameSizeError, "frame over \(FrameHeader.defaultMaximumLength) bytes")
            }
            let start = offset + FrameHeader.length
            guard bytes.count - start >= head.length else { break }
            offset = start + head.length
            try self.receive(head, bytes.extracting(start..<offset), now: now)
        }
        return offset
    }

    private mutating func receive(
        _ head: FrameHeader,
        _ content: borrowing Span<UInt8>,
        now: NIODeadline
    ) throws(HTTP2ConnectionError) {
        let type = FrameType(rawValue: head.type)
        if self.phase == .waitingForSettings, type != .settings || head.flags.contains(.acknowledgement) {
            throw HTTP2ConnectionError(.protocolError, "the first frame is not SETTINGS")
        }
        if self.openBlock != nil, type != .continuation {
            throw HTTP2ConnectionError(.protocolError, "frame inside a header block")
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
        case .pushPromise: throw HTTP2ConnectionError(.protocolError, "push promise from a client")
        case nil: try self.spend()
        }
    }

    /// Counts a frame that brings no request nearer to its end.
    mutating func spend(_ cost: Int = 1) throws(HTTP2ConnectionError) {
        guard self.budget.spend(cost) else { throw HTTP2ConnectionError(.enhanceYourCalm, "too many idle frames") }
    }

    private mutating func receivePing(
        _ head: FrameHeader,
        _ content: borrowing Span<UInt8>,
        now: NIODeadline
    ) throws(HTTP2ConnectionError) {
        try self.spend()
        guard head.streamID == 0 else { throw HTTP2ConnectionError(.protocolError, "PING on a stream") }
        guard content.count == 8 else { throw HTTP2ConnectionError(.frameSizeError, "PING") }
        guard !head.flags.contains(.acknowledgement) else {
            if content.integer(at: 0) == Self.drainPing { self.refuseNewRequests(now: now) }
            return
        }
        self.output.write(FrameHeader(length: 8, type: .ping, flags: .acknowledgement))
        self.output.writeMultipleIntegers(content.integer(at: 0), content.integer(at: 4))
    }

    /// The client goes: what it has asked is answered, then the connection ends.
    private mutating func receiveGoAway(
        _ head: FrameHeader,
        _ content: borrowing Span<UInt8>
    ) throws(HTTP2ConnectionError) {
        guard head.streamID == 0 else { throw HTTP2ConnectionError(.protocolError, "GOAWAY on a stream") }
        guard content.count >= 8 else { throw HTTP2ConnectionError(.frameSizeError, "GOAWAY") }
        try self.spend()
        self.clientIsLeaving = true
        self.finishIfDrained()
    }

    /// Ignored, like the service does (reference 1.3), unless it is wrong.
    private mutating func receivePriority(
        _ head: FrameHeader,
        _ content: borrowing Span<UInt8>
    ) throws(HTTP2ConnectionError) {
        guard head.streamID != 0 else { throw HTTP2ConnectionError(.protocolError, "PRIORITY on stream 0") }
        try self.spend()
        guard content.count == 5 else { return try self.refusePriority(of: head.streamID, .frameSizeError) }
        let dependency = content.integer(at: 0) & HTTP2Constants.largestStreamID
        if dependency == head.streamID { try self.refusePriority(of: head.streamID, .protocolError) }
    }

    /// Resets the stream alone (RFC 7540 sections 5.3.1 and 6.3), also one that is closed. Of a stream that was never opened
    /// it is the connection's error, as RST_STREAM must not be sent for it (RFC 9113 section 6.4).
    private mutating func refusePriority(
        of streamID: UInt32,
        _ code: HTTP2ErrorCode
    ) throws(HTTP2ConnectionError) {
        try self.checkOpened(streamID, orElse: code)
        if self.streams.position(of: streamID) != nil { return try self.reset(faulty: streamID, code) }
        try self.spend(HTTP2ServerLimits.lostStreamCost)
        if let last = self.goAwayStreamID, streamID > last { return }
        self.output.writeFrame(.resetStream, streamID: streamID, words: code.rawValue)
    }
}

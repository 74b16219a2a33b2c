import NIOCore
import PushWire

/// Frames that belong to a request: HEADERS, CONTINUATION, DATA, RST_STREAM.
extension HTTP2ServerStateMachine {
    mutating func receiveHeaders(
        _ head: FrameHeader,
        _ content: borrowing Span<UInt8>,
        now: NIODeadline
    ) throws(HTTP2ConnectionError) {
        guard head.streamID & 1 == 1 else { throw HTTP2ConnectionError(.protocolError, "request on an even stream") }
        guard var range = head.unpadded(content) else {
            throw HTTP2ConnectionError(.protocolError, "padding longer than the frame")
        }
        var dependsOnItself = false
        if head.flags.contains(.priority) {
            guard range.count >= 5 else { throw HTTP2ConnectionError(.frameSizeError, "HEADERS with priority") }
            dependsOnItself = content.integer(at: range.lowerBound) & HTTP2Constants.largestStreamID == head.streamID
            range = range.lowerBound + 5..<range.upperBound
        }
        var open = OpenBlock(
            streamID: head.streamID,
            endsStream: head.flags.contains(.endStream),
            dependsOnItself: dependsOnItself,
            bytes: []
        )
        let block = content.extracting(range)
        if head.flags.contains(.endHeaders) { return try self.receiveBlock(block, of: open, now: now) }
        open.bytes.reserveCapacity(block.count)
        self.openBlock = open
        try self.extendBlock(block)
    }

    mutating func receiveContinuation(
        _ head: FrameHeader,
        _ content: borrowing Span<UInt8>,
        now: NIODeadline
    ) throws(HTTP2ConnectionError) {
        guard self.openBlock?.streamID == head.streamID else {
            throw HTTP2ConnectionError(.protocolError, "CONTINUATION without HEADERS")
        }
        try self.spend()
        try self.extendBlock(content)
        guard head.flags.contains(.endHeaders), let block = self.openBlock.take() else { return }
        try self.receiveBlock(block.bytes.span, of: block, now: now)
    }

    private mutating func extendBlock(_ content: borrowing Span<UInt8>) throws(HTTP2ConnectionError) {
        let length = (self.openBlock?.bytes.count ?? 0) + content.count
        guard length <= HTTP2Constants.maximumHeaderBlock else {
            throw HTTP2ConnectionError(.enhanceYourCalm, "header block too long")
        }
        content.withUnsafeBufferPointer { self.openBlock?.bytes.append(contentsOf: $0) }
    }

    /// A complete header block. It is decoded even if nobody wants the request: the table goes on.
    private mutating func receiveBlock(
        _ block: borrowing Span<UInt8>,
        of open: OpenBlock,
        now: NIODeadline
    ) throws(HTTP2ConnectionError) {
        let (streamID, endsStream) = (open.streamID, open.endsStream)
        var request = ProviderRequest()
        var head: RequestHead
        do {
            head = try self.decoder.decode(block, into: &request)
        } catch {
            throw HTTP2ConnectionError(.compressionError, "header block cannot be decoded")
        }
        // RFC 7540 section 5.3.1: the stream's error alone.
        if open.dependsOnItself { head.isMalformed = true }
        if let last = self.goAwayStreamID, streamID > last { return try self.spend() }
        guard streamID > self.highestStreamID else {
            return try self.receiveTrailers(head, streamID: streamID, endsStream: endsStream, now: now)
        }
        self.highestStreamID = streamID
        guard self.streams.count < self.streamLimit else { return try self.refuse(streamID, endsStream: endsStream) }
        guard !head.isTooLong else { return try self.refuseTooLong(streamID, endsStream: endsStream) }
        guard !head.isMalformed, head.beginsRequest(request), !endsStream || head.contentLength <= 0 else {
            return try self.refuse(streamID, .protocolError, endsStream: endsStream)
        }
        if endsStream {
            self.streams.insert(self.stream(streamID, request, .awaitingAnswer))
            self.hasCompleted(now: now)
            self.requests.append((streamID, request))
        } else {
            self.begin(request, streamID: streamID, head, now: now)
        }
    }

    private mutating func begin(_ request: ProviderRequest, streamID: UInt32, _ head: RequestHead, now: NIODeadline) {
        let deadline = now + self.limits.request
        let held = head.listSize + Self.requestOverhead
        let slot = self.incompleteRequests.insert(
            IncompleteRequest(
                stream: streamID,
                request: request,
                contentLength: head.contentLength,
                deadline: deadline,
                held: held
            )
        )
        self.incompleteBytes += held
        self.streams.insert(self.stream(streamID, request, .receiving(slot)))
        self.requestCheck = min(self.requestCheck, deadline)
    }

    private func stream(
        _ streamID: UInt32,
        _ request: ProviderRequest,
        _ state: HTTP2ServerStream.State
    ) -> HTTP2ServerStream {
        let window = self.peerInitialWindow
        return HTTP2ServerStream(id: streamID, sendWindow: window, state: state, omitsBody: request.method == "HEAD")
    }

    /// Of an incomplete request without its header fields and its body, in bytes.
    private static let requestOverhead = 384

    /// Nothing in trailers matters, but they end the request.
    private mutating func receiveTrailers(
        _ head: RequestHead,
        streamID: UInt32,
        endsStream: Bool,
        now: NIODeadline
    ) throws(HTTP2ConnectionError) {
        guard let position = self.streams.position(of: streamID) else {
            guard self.endedStreams.contains(streamID) else {
                throw HTTP2ConnectionError(.streamClosed, "HEADERS on a closed stream")
            }
            return try self.spend()
        }
        guard case .receiving(let slot) = self.streams[position].state else {
            return try self.reset(faulty: streamID, .streamClosed)
        }
        guard endsStream, !head.isMalformed, head.pseudo == 0, !head.isTooLong else {
            return try self.reset(faulty: streamID, .protocolError)
        }
        if self.incompleteRequests[slot]?.hasWholeBody != true {
            return try self.reset(faulty: streamID, .protocolError)
        }
        self.complete(slot, at: position, now: now)
    }

    mutating func receiveData(
        _ head: FrameHeader,
        _ content: borrowing Span<UInt8>,
        now: NIODeadline
    ) throws(HTTP2ConnectionError) {
        try self.checkOpened(head.streamID)
        try self.takeFromWindow(content.count)
        guard let range = head.unpadded(content) else {
            throw HTTP2ConnectionError(.protocolError, "padding longer than the frame")
        }
        guard let position = self.streams.position(of: head.streamID) else {
            return try self.receivedOnClosed(head.streamID)
        }
        guard case .receiving(let slot) = self.streams[position].state else {
            return try self.reset(faulty: head.streamID, .streamClosed)
        }
        let endsStream = head.flags.contains(.endStream)
        if range.count < HTTP2ServerLimits.smallData, !endsStream {
            // Many clients send a small body whole and its end in a frame of its own: the first piece costs nothing.
            let isFirst = range.count > 0 && self.incompleteRequests[slot]?.request.bodyLength == 0
            if !isFirst { try self.spend() }
        }
        let data = content.extracting(range)
        let piece = self.incompleteRequests[slot]?.receive(data, of: content.count, endsStream: endsStream)
        self.incompleteBytes += piece?.held ?? 0
        if let fault = piece?.fault { return try self.reset(faulty: head.streamID, fault) }
        if endsStream { return self.complete(slot, at: position, now: now) }
        if let increment = self.incompleteRequests[slot]?.widen() {
            self.output.writeFrame(.windowUpdate, streamID: head.streamID, words: increment)
        }
    }

    /// Of the connection; padding counts too (RFC 9113 section 6.9.1). Given back half a window at a time.
    private mutating func takeFromWindow(_ length: Int) throws(HTTP2ConnectionError) {
        guard length <= self.receiveWindow else {
            throw HTTP2ConnectionError(.flowControlError, "more data than the connection window")
        }
        self.receiveWindow -= length
        guard self.receiveWindow < HTTP2Constants.connectionReceiveWindow / 2 else { return }
        let increment = HTTP2Constants.connectionReceiveWindow - self.receiveWindow
        self.output.writeFrame(.windowUpdate, words: UInt32(truncatingIfNeeded: increment))
        self.receiveWindow = HTTP2Constants.connectionReceiveWindow
    }

    private mutating func complete(_ slot: Int, at position: Int, now: NIODeadline) {
        guard let complete = self.incompleteRequests.remove(slot) else { return }
        self.incompleteBytes -= complete.held
        self.streams[position].state = .awaitingAnswer
        self.hasCompleted(now: now)
        self.requests.append((complete.stream, complete.request))
    }

    private mutating func hasCompleted(now: NIODeadline) {
        self.lastRequest = now
        self.lateRequests = 0
    }

    mutating func receiveReset(_ head: FrameHeader, _ content: borrowing Span<UInt8>) throws(HTTP2ConnectionError) {
        guard content.count == 4 else { throw HTTP2ConnectionError(.frameSizeError, "RST_STREAM") }
        try self.checkOpened(head.streamID)
        guard let stream = self.streams.remove(head.streamID) else { return try self.spend() }
        self.forget(stream)
        try self.spend(HTTP2ServerLimits.lostStreamCost)
        self.finishIfDrained()
    }
}

extension IncompleteRequest {
    /// Takes a piece of the body; `frame` is its size with padding.
    /// - Returns: what is wrong with it, and how many bytes more are held.
    fileprivate mutating func receive(
        _ data: borrowing Span<UInt8>,
        of frame: Int,
        endsStream: Bool
    ) -> (fault: HTTP2ErrorCode?, held: Int) {
        guard frame <= self.window else { return (.flowControlError, 0) }
        self.window -= frame
        let before = self.request.body.storageCapacity
        self.request.receive(data)
        let held = self.request.body.storageCapacity - before
        self.held += held
        if endsStream { return (self.hasWholeBody ? nil : .protocolError, held) }
        let isTooLong = self.contentLength >= 0 && self.request.bodyLength > self.contentLength
        return (isTooLong ? .protocolError : nil, held)
    }

    /// RFC 9113 section 8.1.1.
    fileprivate var hasWholeBody: Bool { self.contentLength < 0 || self.request.bodyLength == self.contentLength }

    /// Gives back what was received, half a window at a time.
    fileprivate mutating func widen() -> UInt32? {
        guard self.window < HTTP2Constants.defaultWindow / 2 else { return nil }
        defer { self.window = HTTP2Constants.defaultWindow }
        return UInt32(truncatingIfNeeded: HTTP2Constants.defaultWindow - self.window)
    }
}

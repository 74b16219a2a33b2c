import NIOCore
import PushWire

/// Taking bytes apart into frames (RFC 9113 section 4).
extension HTTP2ClientStateMachine {
    /// Bytes from the service, in any portions.
    mutating func receive(_ bytes: ByteBuffer, now: NIODeadline) {
        guard self.phase != .finished else { return }
        self.lastReceived = now
        self.pingSent = nil
        var input = bytes
        if self.incomplete.readableBytes > 0 {
            self.incomplete.writeImmutableBuffer(bytes)
            input = self.incomplete
            self.incomplete = ByteBuffer()
        }
        do {
            let used = try self.receiveFrames(input.readableBytesUInt8Span, now: now)
            guard self.phase != .finished else { return }
            input.moveReaderIndex(forwardBy: used)
            if input.readableBytes > 0 { self.incomplete.writeImmutableBuffer(input) }
        } catch {
            self.finish(.violation(error.code, error.description))
        }
    }

    /// Returns how many bytes whole frames took.
    private mutating func receiveFrames(
        _ bytes: borrowing Span<UInt8>,
        now: NIODeadline
    ) throws(HTTP2ConnectionError) -> Int {
        var offset = 0
        while self.phase != .finished, let head = FrameHeader(bytes, at: offset) {
            if self.phase == .waitingForSettings, head.type != FrameType.settings.rawValue {
                throw HTTP2ConnectionError(.protocolError, "the server does not speak HTTP/2")
            }
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
        if self.openBlock != nil, type != .continuation {
            throw HTTP2ConnectionError(.protocolError, "frame inside a header block")
        }
        switch type {
        case .headers: try self.receiveHeaders(head, content)
        case .continuation: try self.receiveContinuation(head, content)
        case .data: try self.receiveData(head, content)
        case .resetStream: try self.receiveReset(head, content)
        case .settings: try self.receiveSettings(head, content)
        case .ping: try self.receivePing(head, content)
        case .goAway: try self.receiveGoAway(head, content, now: now)
        case .windowUpdate:
            try self.spend()
            guard content.count == 4 else { throw HTTP2ConnectionError(.frameSizeError, "window update") }
            try self.windowGrew(by: Int(content.integer(at: 0) & 0x7fff_ffff), streamID: head.streamID)
        case .pushPromise: throw HTTP2ConnectionError(.protocolError, "push promise, which we forbade")
        case .priority, nil: try self.spend()
        }
    }

    /// Counts a frame that brings no request nearer to its end.
    mutating func spend() throws(HTTP2ConnectionError) {
        guard self.budget.spend() else { throw HTTP2ConnectionError(.enhanceYourCalm, "too many idle frames") }
    }

    private mutating func receivePing(
        _ head: FrameHeader,
        _ content: borrowing Span<UInt8>
    ) throws(HTTP2ConnectionError) {
        try self.spend()
        guard head.streamID == 0 else { throw HTTP2ConnectionError(.protocolError, "ping on a stream") }
        guard content.count == 8 else { throw HTTP2ConnectionError(.frameSizeError, "ping") }
        guard !head.flags.contains(.acknowledgement) else { return }
        self.output.write(FrameHeader(length: 8, type: .ping, flags: .acknowledgement))
        self.output.writeMultipleIntegers(content.integer(at: 0), content.integer(at: 4))
    }

    private mutating func receiveGoAway(
        _ head: FrameHeader,
        _ content: borrowing Span<UInt8>,
        now: NIODeadline
    ) throws(HTTP2ConnectionError) {
        guard head.streamID == 0 else { throw HTTP2ConnectionError(.protocolError, "GOAWAY on a stream") }
        guard content.count >= 8 else { throw HTTP2ConnectionError(.frameSizeError, "GOAWAY") }
        try self.spend()
        var debugData: [UInt8] = []
        for index in 8..<min(content.count, 8 + GoAway.maximumDebugData) { debugData.append(content[index]) }
        let goAway = GoAway(
            lastStreamID: content.integer(at: 0) & 0x7fff_ffff,
            code: content.integer(at: 4),
            debugData: String(decoding: debugData, as: UTF8.self)
        )
        let refused = self.streams.streams.filter { $0.id > goAway.lastStreamID }.sorted { $0.id < $1.id }
        for stream in refused {
            _ = self.removeStream(stream.id)
            let parts = self.parts.removeValue(forKey: stream.id)
            if parts?.head == nil {
                self.events.append(.notProcessed(stream.ticket, .goAway(goAway)))
            } else {
                self.end(stream, parts: parts, .goAway(goAway))
            }
        }
        self.beginDraining(goAway, now: now)
    }
}

extension GoAway {
    /// Kept of the debug data, in bytes.
    static let maximumDebugData = 256
}

import NIOCore
import PushProtocol

/// Taking bytes apart into frames (RFC 9113 section 4).
extension ConnectionMachine {
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
    ) throws(ConnectionViolation) -> Int {
        var offset = 0
        while self.phase != .finished, let head = FrameHead(bytes, at: offset) {
            if self.phase == .waitingForSettings, head.type != FrameType.settings.rawValue {
                throw ConnectionViolation(.protocolError, "the server does not speak HTTP/2")
            }
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
        if self.openBlock != nil, type != .continuation {
            throw ConnectionViolation(.protocolError, "frame inside a header block")
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
            guard content.count == 4 else { throw ConnectionViolation(.frameSizeError, "window update") }
            try self.windowGrew(by: Int(content.integer(at: 0) & 0x7fff_ffff), streamID: head.streamID)
        case .pushPromise: throw ConnectionViolation(.protocolError, "push promise, which we forbade")
        case .priority, nil: try self.spend()
        }
    }

    /// Counts a frame that brings no request nearer to its end.
    mutating func spend() throws(ConnectionViolation) {
        guard self.budget.spend() else { throw ConnectionViolation(.enhanceYourCalm, "too many idle frames") }
    }

    private mutating func receivePing(
        _ head: FrameHead,
        _ content: borrowing Span<UInt8>
    ) throws(ConnectionViolation) {
        try self.spend()
        guard head.streamID == 0 else { throw ConnectionViolation(.protocolError, "ping on a stream") }
        guard content.count == 8 else { throw ConnectionViolation(.frameSizeError, "ping") }
        guard !head.flags.contains(.acknowledgement) else { return }
        self.output.write(FrameHead(length: 8, type: .ping, flags: .acknowledgement))
        self.output.writeMultipleIntegers(content.integer(at: 0), content.integer(at: 4))
    }

    private mutating func receiveGoAway(
        _ head: FrameHead,
        _ content: borrowing Span<UInt8>,
        now: NIODeadline
    ) throws(ConnectionViolation) {
        guard head.streamID == 0 else { throw ConnectionViolation(.protocolError, "GOAWAY on a stream") }
        guard content.count >= 8 else { throw ConnectionViolation(.frameSizeError, "GOAWAY") }
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

import NIOCore
import PushWire

/// Sending bodies within the windows of RFC 9113 section 5.2.
extension HTTP2ClientStateMachine {
    /// Sends as much as the windows allow; the rest waits aside.
    mutating func sendBody(_ body: ByteBuffer, streamID: UInt32) {
        guard let position = self.streams.position(of: streamID) else { return }
        var rest = body
        while rest.readableBytes > 0 {
            let window = min(self.sendWindow, self.streams[position].sendWindow, self.peerMaximumFrame)
            guard window > 0, let chunk = rest.readSlice(length: min(window, rest.readableBytes)) else { break }
            self.sendWindow -= chunk.readableBytes
            self.streams[position].sendWindow -= chunk.readableBytes
            self.output.write(
                FrameHeader(
                    length: chunk.readableBytes,
                    type: .data,
                    flags: rest.readableBytes == 0 ? .endStream : [],
                    streamID: streamID
                )
            )
            self.output.writeImmutableBuffer(chunk)
        }
        let isSent = rest.readableBytes == 0
        if isSent, self.streams[position].isSent { return }
        self.streams[position].isSent = isSent
        self.streams[position].hasParts = true
        self.parts[streamID, default: Parts()].unsentBody = isSent ? nil : rest
        if isSent { self.blocked.remove(streamID) } else { self.blocked.insert(streamID) }
    }

    /// Goes on with the bodies that waited for a window, oldest first.
    mutating func sendBlocked() {
        guard !self.blocked.isEmpty, self.sendWindow > 0 else { return }
        for id in self.blocked.sorted() where self.sendWindow > 0 { self.sendRest(of: id) }
    }

    private mutating func sendRest(of streamID: UInt32) {
        guard let body = self.parts[streamID]?.unsentBody, self.streams.position(of: streamID) != nil else {
            self.blocked.remove(streamID)
            return
        }
        self.sendBody(body, streamID: streamID)
    }

    /// WINDOW_UPDATE (RFC 9113 section 6.9).
    mutating func windowGrew(by increment: Int, streamID: UInt32) throws(HTTP2ConnectionError) {
        if streamID == 0 {
            guard increment > 0 else { throw HTTP2ConnectionError(.protocolError, "window update of zero") }
            self.sendWindow += increment
            guard self.sendWindow <= HTTP2Constants.largestWindow else {
                throw HTTP2ConnectionError(.flowControlError, "connection window over 2^31-1")
            }
            return self.sendBlocked()
        }
        guard let position = self.streams.position(of: streamID) else {
            return try self.checkClosed(streamID)
        }
        guard increment > 0 else { return self.reset(streamID, .protocolError) }
        self.streams[position].sendWindow += increment
        guard self.streams[position].sendWindow <= HTTP2Constants.largestWindow else {
            return self.reset(streamID, .flowControlError)
        }
        if !self.streams[position].isSent { self.sendRest(of: streamID) }
    }
}

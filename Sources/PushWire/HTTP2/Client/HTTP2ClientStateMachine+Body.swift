import NIOCore

/// Sending bodies within the flow-control windows (RFC 9113 section 5.2).
extension HTTP2ClientStateMachine {
    /// Sends as much of a body as the windows allow, and keeps the rest.
    mutating func sendBody(_ body: ByteBuffer, streamID: UInt32) {
        guard let position = self.streams.position(of: streamID) else { return }
        var rest = body
        _ = self.output.writeData(
            &rest,
            streamID: streamID,
            connectionWindow: &self.sendWindow,
            streamWindow: &self.streams[position].sendWindow,
            maximumFrameLength: self.peer.maximumFrameLength
        )
        self.streams.setUnsentBody(rest, at: position)
    }

    /// Continues with the bodies that waited for a window, the oldest first.
    mutating func sendBlocked() {
        guard self.sendWindow.size > 0 else { return }
        for id in self.streams.blockedStreams where self.sendWindow.size > 0 { self.sendRest(of: id) }
    }

    private mutating func sendRest(of streamID: UInt32) {
        guard let body = self.streams.unsentBody(of: streamID) else { return }
        self.sendBody(body, streamID: streamID)
    }

    /// WINDOW_UPDATE (RFC 9113 section 6.9).
    mutating func receiveWindowUpdate(_ increment: UInt32, streamID: UInt32) throws(HTTP2ConnectionError) {
        try self.floodLimiter.spend()
        if streamID == 0 {
            try self.sendWindow.increaseConnection(by: increment)
            return self.sendBlocked()
        }
        try self.checkOpened(streamID)
        guard let position = self.streams.position(of: streamID) else { return try self.floodLimiter.spend() }
        if let code = self.streams[position].sendWindow.increase(by: increment) {
            return self.reset(streamID, code)
        }
        if !self.streams[position].isSent { self.sendRest(of: streamID) }
    }
}

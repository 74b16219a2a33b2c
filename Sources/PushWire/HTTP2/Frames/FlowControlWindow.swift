import NIOCore

/// A send window, which limits the bytes that the peer accepts on a connection or stream (RFC 9113 section 5.2).
struct HTTP2SendWindow: Sendable {
    /// The number of bytes that may still be sent. A change of the peer's settings can make it negative (RFC 9113
    /// section 6.9.2).
    private(set) var size = HTTP2Constants.defaultWindow

    mutating func consume(_ length: Int) { self.size -= length }

    /// Increases the window by the increment of a WINDOW_UPDATE frame (RFC 9113 section 6.9).
    /// - Returns: The error code for an increment that is zero or makes the window too large, or `nil` if it is valid.
    mutating func increase(by increment: UInt32) -> HTTP2ErrorCode? {
        guard increment > 0 else { return .protocolError }
        return self.change(by: Int(increment)) ? nil : .flowControlError
    }

    /// Applies a change of the peer's initial window size (RFC 9113 section 6.9.2). Returns `true` if the window is
    /// valid, and `false` if it becomes too large.
    mutating func change(by difference: Int) -> Bool {
        self.size += difference
        return self.size <= HTTP2Constants.largestWindow
    }
}

extension HTTP2SendWindow {
    /// Increases the window of a connection. Any error in the WINDOW_UPDATE frame is thrown as a connection error.
    mutating func increaseConnection(by increment: UInt32) throws(HTTP2ConnectionError) {
        guard let code = self.increase(by: increment) else { return }
        throw HTTP2ConnectionError(code, "WINDOW_UPDATE of the connection by \(increment)")
    }
}

/// A receive window, which limits the bytes that the peer may send on a connection or stream (RFC 9113 section 5.2).
struct HTTP2ReceiveWindow: Sendable {
    private let capacity: Int
    private var size: Int

    init(capacity: Int) {
        self.capacity = capacity
        self.size = capacity
    }

    /// Subtracts the length of a DATA frame, with its padding (RFC 9113 section 6.9.1). Returns `true` if the frame
    /// fits into the window, and `false` if it exceeds the window.
    mutating func receive(_ length: Int) -> Bool {
        guard length <= self.size else { return false }
        self.size -= length
        return true
    }

    /// Restores the full window if at least half of it is used up.
    /// - Returns: The increment of the WINDOW_UPDATE frame to send, or `nil` if none is due.
    mutating func replenish() -> UInt32? {
        guard self.size < self.capacity / 2 else { return nil }
        defer { self.size = self.capacity }
        return UInt32(truncatingIfNeeded: self.capacity - self.size)
    }

    /// Subtracts the length of a DATA frame from the connection's window, and replenishes the window if needed.
    /// - Throws: ``HTTP2ConnectionError`` if the frame exceeds the window.
    mutating func receiveOnConnection(_ length: Int, output: inout ByteBuffer) throws(HTTP2ConnectionError) {
        guard self.receive(length) else {
            throw HTTP2ConnectionError(.flowControlError, "more DATA than the connection window")
        }
        if let increment = self.replenish() { output.writeFrame(.windowUpdate, words: increment) }
    }
}

import NIOCore
import PushWire

/// Deadlines: to be looked at a few times a second.
extension HTTP2ClientStateMachine {
    /// Between two ticks it takes so long only if the process stood still.
    static var standstill: TimeAmount { .seconds(5) }

    mutating func tick(now: NIODeadline) {
        let hasStoodStill = now >= self.lastTick + Self.standstill
        self.lastTick = now
        // Bytes that came meanwhile have not been read yet: a reply among them is in time. The next tick decides.
        guard !hasStoodStill else { return }
        switch self.phase {
        case .finished: return
        case .waitingForSettings where now >= self.handshakeDeadline: return self.finish(.noHandshake)
        case .draining(let until) where now >= until: return self.finish(.drainTimeout)
        case .waitingForSettings, .open, .draining: break
        }
        self.budget.earn()
        self.giveUpReplies(now: now)
        if self.phase != .waitingForSettings { self.checkHealth(now: now) }
    }

    private mutating func giveUpReplies(now: NIODeadline) {
        let late = self.streams.streams.filter { $0.deadline <= now }.sorted { $0.id < $1.id }
        for stream in late { self.reset(stream.id, .cancel, cause: .replyTimeout) }
    }

    private mutating func checkHealth(now: NIODeadline) {
        guard self.phase != .finished else { return }
        if let sent = self.pingSent {
            if now >= sent + self.limits.pingTimeout { self.finish(.silent) }
            return
        }
        let patience = self.streams.count == 0 ? self.limits.idlePingAfter : self.limits.pingAfter
        guard now >= self.lastReceived + patience else { return }
        self.pingSent = now
        self.output.write(FrameHeader(length: 8, type: .ping))
        self.output.writeInteger(now.uptimeNanoseconds)
    }
}

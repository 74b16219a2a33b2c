package import NIOCore

/// Deadlines.
extension HTTP2ClientStateMachine {
    /// The time between two ticks that means that the process did not run.
    static var standstill: TimeAmount { .seconds(5) }

    /// Checks the deadlines. The handler calls it a few times per second.
    package mutating func tick(now: NIODeadline) {
        let hasStoodStill = now >= self.timers.lastTick + Self.standstill
        self.timers.lastTick = now
        // Bytes that came meanwhile are still unread: a response among them is in time. The next tick decides.
        guard !hasStoodStill else { return }
        switch self.phase {
        case .finished: return
        case .waitingForSettings where now >= self.timers.handshakeDeadline: return self.finish(.handshakeTimeout)
        case .draining(let until) where now >= until: return self.finish(.drainTimeout)
        case .waitingForSettings, .open, .draining: break
        }
        self.floodLimiter.earn()
        for stream in self.streams.table.sorted(where: { $0.deadline <= now }) {
            self.reset(stream.id, .cancel, cause: .responseTimeout)
        }
        if self.phase != .waitingForSettings { self.checkHealth(now: now) }
    }

    private mutating func checkHealth(now: NIODeadline) {
        guard self.phase != .finished else { return }
        if let sent = self.timers.pingSent {
            if now >= sent + self.limits.pingTimeout { self.finish(.unresponsive) }
            return
        }
        let patience = self.streams.count == 0 ? self.limits.idlePingAfter : self.limits.pingAfter
        guard now >= self.timers.lastReceived + patience else { return }
        self.timers.pingSent = now
        self.output.writePing(now.uptimeNanoseconds)
    }
}

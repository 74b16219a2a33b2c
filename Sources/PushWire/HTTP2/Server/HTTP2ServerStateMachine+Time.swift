package import NIOCore

/// Deadlines. A request costs no work here: only the earliest deadline is known, and the requests are checked then.
extension HTTP2ServerStateMachine {
    /// The interval at which the flood limiter earns frames.
    private static let creditInterval: TimeAmount = .milliseconds(250)

    /// The time at which to call ``tick(now:)``, which may turn out to be too early.
    package var nextDeadline: NIODeadline {
        switch self.phase {
        case .finished: return .distantFuture
        case .waitingForPreface, .waitingForSettings: return self.timers.handshakeDeadline
        case .open: return min(self.nextCheck, self.nextHealthCheck)
        case .draining(let until): return min(until, self.shutdown.noticeEnds ?? until, self.nextCheck)
        }
    }

    private var nextCheck: NIODeadline {
        var next = self.incomplete.nextCheck
        if let deadline = self.streamLimit.deadline { next = min(next, deadline) }
        if let since = self.timers.unfinishedSince { next = min(next, since + self.limits.request) }
        if let since = self.timers.stalledSince { next = min(next, since + self.limits.stall) }
        if let sent = self.timers.pingSent { next = min(next, sent + self.limits.keepAliveTimeout) }
        if self.unsent.byteCount > 0 {
            // The first check notes the time, as a response brings none.
            next = min(next, self.timers.windowlessSince.map { $0 + self.limits.stall } ?? self.timers.lastReceived)
        }
        return next
    }

    /// The deadlines that do not matter to a connection that is ending anyway.
    private var nextHealthCheck: NIODeadline {
        var next = NIODeadline.distantFuture
        if self.timers.pingSent == nil { next = self.timers.lastReceived + self.limits.keepAlive }
        if let idle = self.limits.idle, self.streams.count == 0 { next = min(next, self.timers.lastRequest + idle) }
        return next
    }

    /// Checks the deadlines.
    package mutating func tick(now: NIODeadline) {
        switch self.phase {
        case .finished: return
        case .waitingForPreface, .waitingForSettings:
            if now >= self.timers.handshakeDeadline { self.finish(.settingsTimeout, "no SETTINGS in time") }
            return
        case .draining(let until) where now >= until:
            return self.finish(.noError, "not all responses were ready in time")
        case .draining, .open: break
        }
        if let end = self.shutdown.noticeEnds, now >= end { self.refuseNewRequests() }
        self.endLateRequests(now: now)
        self.checkWindows(now: now)
        self.checkClient(now: now)
        if self.phase == .open { self.checkHealth(now: now) }
    }

    mutating func noteReceived(_ now: NIODeadline) {
        self.timers.lastReceived = now
        self.timers.pingSent = nil
        if now >= self.timers.lastCredit + Self.creditInterval {
            self.timers.lastCredit = now
            self.floodLimiter.earn()
        }
    }

    /// Notes the time since which a frame or a header block is incomplete.
    mutating func noteUnfinished(hasRest: Bool, hasProgress: Bool, now: NIODeadline) {
        if self.reader.isInsideHeaderBlock {
            self.timers.unfinishedSince = self.timers.unfinishedSince ?? now
        } else if !hasRest {
            self.timers.unfinishedSince = nil
        } else if hasProgress || self.timers.unfinishedSince == nil {
            self.timers.unfinishedSince = now
        }
    }

    /// Notes whether the client reads its responses. ``HTTP2ServerLimits/stall`` counts while it does not.
    package mutating func setWritable(_ isWritable: Bool, now: NIODeadline) {
        self.timers.stalledSince = isWritable ? nil : self.timers.stalledSince ?? now
    }

    private mutating func endLateRequests(now: NIODeadline) {
        let late = self.incomplete.late(now: now)
        guard !late.isEmpty else { return }
        self.timers.lateChecks += 1
        for streamID in late { self.reset(streamID, .cancel) }
        if self.timers.lateChecks >= HTTP2ServerLimits.maximumLateRequests {
            self.finish(.enhanceYourCalm, "requests do not come to their end")
        }
    }

    /// Ends the connection of a client that reads, but opens no window for the bodies of its responses.
    private mutating func checkWindows(now: NIODeadline) {
        guard self.unsent.byteCount > 0 else { return self.timers.windowlessSince = nil }
        let since = self.timers.windowlessSince ?? now
        self.timers.windowlessSince = since
        if now >= since + self.limits.stall { self.finish(.enhanceYourCalm, "responses have no window") }
    }

    private mutating func checkClient(now: NIODeadline) {
        if let deadline = self.streamLimit.deadline, now >= deadline {
            self.finish(.settingsTimeout, "SETTINGS not acknowledged in time")
        } else if let since = self.timers.unfinishedSince, now >= since + self.limits.request {
            self.finish(.enhanceYourCalm, "frame not complete in time")
        } else if let since = self.timers.stalledSince, now >= since + self.limits.stall {
            self.finish(.enhanceYourCalm, "responses are not read")
        } else if let sent = self.timers.pingSent, now >= sent + self.limits.keepAliveTimeout {
            self.finish(.noError, "no response to PING")
        }
    }

    private mutating func checkHealth(now: NIODeadline) {
        if let idle = self.limits.idle, self.streams.count == 0, now >= self.timers.lastRequest + idle {
            return self.goAway(.noError, debugData: #"{"reason":"IdleTimeout"}"#, now: now)
        }
        guard self.timers.pingSent == nil, now >= self.timers.lastReceived + self.limits.keepAlive else { return }
        self.timers.pingSent = now
        self.output.writePing(now.uptimeNanoseconds)
    }
}

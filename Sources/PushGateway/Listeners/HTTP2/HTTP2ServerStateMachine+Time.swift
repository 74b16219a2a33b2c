import NIOCore
import PushWire

/// Deadlines. Requests cost no work of their own here: only the earliest possible time is known, and looked at then.
extension HTTP2ServerStateMachine {
    /// What a second is worth to the flood budget, in idle frames: four looks of ``HTTP2FloodLimiter``.
    private static let creditInterval: TimeAmount = .milliseconds(250)

    /// When ``tick(now:)`` must be called; it may turn out to be too early.
    var nextDeadline: NIODeadline {
        switch self.phase {
        case .finished: return .distantFuture
        case .waitingForPreface, .waitingForSettings: return self.handshakeDeadline
        case .open: return min(self.nextCheck, self.nextHealthCheck)
        case .draining(let until): return min(until, self.drainNoticeEnds ?? until, self.nextCheck)
        }
    }

    private var nextCheck: NIODeadline {
        var next = self.requestCheck
        if let first = self.announced.first { next = min(next, first.deadline) }
        if let since = self.unfinishedSince { next = min(next, since + self.limits.request) }
        if let since = self.stalledSince { next = min(next, since + self.limits.stall) }
        if let sent = self.pingSent { next = min(next, sent + self.limits.keepAliveAnswer) }
        return next
    }

    /// Of no interest to a connection that is ending anyway.
    private var nextHealthCheck: NIODeadline {
        var next = NIODeadline.distantFuture
        if self.pingSent == nil { next = self.lastReceived + self.limits.keepAlive }
        if let idle = self.limits.idle, self.streams.count == 0 { next = min(next, self.lastRequest + idle) }
        return next
    }

    mutating func tick(now: NIODeadline) {
        switch self.phase {
        case .finished: return
        case .waitingForPreface, .waitingForSettings:
            if now >= self.handshakeDeadline { self.finish(.settingsTimeout, "no SETTINGS in time") }
            return
        case .draining(let until) where now >= until: return self.finish(.noError, "not all answers came in time")
        case .draining, .open: break
        }
        if let end = self.drainNoticeEnds, now >= end { self.refuseNewRequests(now: now) }
        self.endLateRequests(now: now)
        self.checkClient(now: now)
        if self.phase == .open { self.checkHealth(now: now) }
    }

    /// Something came.
    mutating func note(_ now: NIODeadline) {
        self.lastReceived = now
        self.pingSent = nil
        if now >= self.lastCredit + Self.creditInterval {
            self.lastCredit = now
            self.budget.earn()
        }
    }

    /// Keeps the time since when a frame or a header block is waiting for its end.
    mutating func noteUnfinished(hasRest: Bool, hasProgress: Bool, now: NIODeadline) {
        if self.openBlock != nil {
            self.unfinishedSince = self.unfinishedSince ?? now
        } else if !hasRest {
            self.unfinishedSince = nil
        } else if hasProgress || self.unfinishedSince == nil {
            self.unfinishedSince = now
        }
    }

    /// Whether the client takes what we write; ``HTTP2ServerLimits/stall`` counts while it does not.
    mutating func setWritable(_ isWritable: Bool, now: NIODeadline) {
        self.stalledSince = isWritable ? nil : self.stalledSince ?? now
    }

    private mutating func endLateRequests(now: NIODeadline) {
        guard now >= self.requestCheck else { return }
        var next = NIODeadline.distantFuture
        var late: [UInt32] = []
        for case .some(let incomplete) in self.incompleteRequests.slots {
            if incomplete.deadline <= now {
                late.append(incomplete.stream)
            } else {
                next = min(next, incomplete.deadline)
            }
        }
        self.requestCheck = next
        guard !late.isEmpty else { return }
        self.lateRequests += 1
        for streamID in late.sorted() { self.reset(streamID, .cancel) }
        if self.lateRequests >= HTTP2ServerLimits.maximumLateRequests {
            self.finish(.enhanceYourCalm, "requests do not come to their end")
        }
    }

    private mutating func checkClient(now: NIODeadline) {
        if let first = self.announced.first, now >= first.deadline {
            self.finish(.settingsTimeout, "SETTINGS not confirmed in time")
        } else if let since = self.unfinishedSince, now >= since + self.limits.request {
            self.finish(.enhanceYourCalm, "frame not complete in time")
        } else if let since = self.stalledSince, now >= since + self.limits.stall {
            self.finish(.enhanceYourCalm, "answers are not read")
        } else if let sent = self.pingSent, now >= sent + self.limits.keepAliveAnswer {
            self.finish(.noError, "no sign of life")
        }
    }

    private mutating func checkHealth(now: NIODeadline) {
        if let idle = self.limits.idle, self.streams.count == 0, now >= self.lastRequest + idle {
            return self.goAway(.noError, debugData: #"{"reason":"IdleTimeout"}"#, now: now)
        }
        guard self.pingSent == nil, now >= self.lastReceived + self.limits.keepAlive else { return }
        self.pingSent = now
        self.output.write(FrameHeader(length: 8, type: .ping))
        self.output.writeInteger(now.uptimeNanoseconds)
    }
}

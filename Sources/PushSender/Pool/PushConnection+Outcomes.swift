import Logging
import NIOCore
import PushTypes
import PushWire

/// Turning the state machine's events into outcomes.
extension PushConnection {
    /// The number of times that the service may refuse a push's stream before the push counts as not sent.
    private static let maximumRefusals = 3

    func handle(_ events: [HTTP2ClientEvent]) {
        var results = ResultCollector(&self.results, over: self.opened)
        var returned: [PushTicket] = []
        var returnCause: Outcome.Failure?
        let now = NIODeadline.now()
        for event in events {
            switch event {
            case .response(let slot, let response):
                guard let ticket = self.inFlight.remove(slot) else { continue }
                ticket.batch.metrics.responded(after: now - ticket.sentAt)
                results.add(ticket, self.outcome(of: response, to: ticket))
            case .lost(let slot, let cause):
                guard let ticket = self.inFlight.remove(slot) else { continue }
                results.add(ticket, .unknown(cause.failure))
                // The service is reachable but never responds: another of its addresses may.
                if cause == .responseTimeout, !self.isConfirmed { self.startDraining() }
            case .notProcessed(let slot, let cause):
                guard var ticket = self.inFlight.remove(slot) else { continue }
                if case .reset = cause { ticket.refusals += 1 }
                // The service has opened no window for it: another connection may have one.
                if cause == .responseTimeout { self.startDraining() }
                if cause.allowsRetry, ticket.refusals < Self.maximumRefusals {
                    returned.append(ticket)
                    returnCause = cause.failure
                } else {
                    results.add(ticket, .notSent(cause.failure))
                }
            case .ready: self.delegate.connectionIsReady(self.id)
            case .draining(let goAway):
                self.logger.debug("connection draining", metadata: goAway?.metadata)
                self.delegate.connectionIsDraining(self.id, goAway)
            case .finished(let cause):
                if let cause {
                    self.logger.debug("connection ended", metadata: ["error": "\(cause.failure.description)"])
                }
                self.finished(cause)
            }
        }
        self.results = results.finish()
        if let returnCause { self.delegate.returnWork(returned, returnCause) }
    }

    private func outcome(of response: HTTP2Response, to ticket: PushTicket) -> Outcome {
        if response.head.status == 200 {
            self.confirm()
            return .accepted(
                .init(id: response.head.id ?? ticket.push.notification.id, uniqueID: response.head.uniqueID)
            )
        }
        let rejection = PushResponse.rejection(response)
        if rejection.reason == .expiredProviderToken { self.reportExpiredToken() }
        if rejection.endsConnection { self.startDraining() } else { self.confirm() }
        return .rejected(rejection)
    }

    private func confirm() {
        guard !self.isConfirmed else { return }
        self.isConfirmed = true
        self.delegate.connectionIsConfirmed(self.id)
    }
}

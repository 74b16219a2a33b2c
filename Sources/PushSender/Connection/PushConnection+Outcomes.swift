import Logging
import PushTypes

/// From the machine's events to outcomes.
extension PushConnection {
    /// How often the service may refuse a push's stream before the push counts as not sent.
    private static let maximumRefusals = 3

    func handle(_ events: [HTTP2ClientEvent<PushTicket>]) {
        var results = ResultCollector(&self.results)
        var refused: [PushTicket] = []
        var refusal: Outcome.Failure?
        for event in events {
            switch event {
            case .replied(let ticket, let reply): results.add(ticket, self.outcome(of: reply, to: ticket))
            case .lost(let ticket, let cause):
                results.add(ticket, .unknown(cause.failure))
                // A service that is there but never answers: perhaps another address does.
                if cause == .replyTimeout, !self.isProven { self.startDraining() }
            case .notProcessed(var ticket, let cause):
                if case .reset = cause { ticket.refusals += 1 }
                if cause.mayGoElsewhere, ticket.refusals < Self.maximumRefusals {
                    refused.append(ticket)
                    refusal = cause.failure
                } else {
                    results.add(ticket, .notSent(cause.failure))
                }
            case .ready: self.owner.connectionIsReady(self.id)
            case .draining(let goAway):
                self.logger.debug("connection drains", metadata: goAway?.metadata)
                self.owner.connectionDrains(self.id, goAway)
            case .finished(let cause):
                if let cause {
                    self.logger.debug("connection ends", metadata: ["cause": "\(cause.failure.description)"])
                }
                self.finished(cause)
            }
        }
        self.results = results.end()
        if let refusal { self.owner.giveBack(refused, refusal) }
    }

    private func outcome(of reply: HTTP2Response, to ticket: PushTicket) -> Outcome {
        if reply.head.status == 200 {
            self.prove()
            return .accepted(
                .init(id: reply.head.id ?? ticket.push.notification.id, uniqueID: reply.head.uniqueID)
            )
        }
        let rejection = PushResponse.rejection(reply)
        if rejection.reason == .expiredProviderToken { self.reportExpiredToken() }
        if rejection.endsConnection { self.startDraining() } else { self.prove() }
        return .rejected(rejection)
    }

    /// The connection is of use.
    private func prove() {
        guard !self.isProven else { return }
        self.isProven = true
        self.owner.connectionIsProven(self.id)
    }
}

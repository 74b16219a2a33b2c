import Logging
import NIOCore
import PushTypes
import PushWire

/// Configured misbehaviour.
extension ProviderRequestHandler {
    /// Returns the fault that applies to a request.
    func fault(_ request: ProviderRequest, _ decision: ProviderSession.Decision, now: Timestamp) -> FaultDecision? {
        self.listener.faults.decide(at: .request, for: self.subject(request, decision), now: now)
    }

    private func subject(_ request: ProviderRequest, _ decision: ProviderSession.Decision) -> FaultSubject {
        var subject = FaultSubject(
            listener: .http2,
            environment: self.listener.environment,
            topic: request.fields.topic.flatMap { Topic($0) },
            credential: self.credential,
            ordinal: self.ordinal
        )
        switch decision {
        case .submit(let push, _): (subject.topic, subject.token) = (push.notification.topic, push.token)
        case .broadcast(let broadcast, _): subject.topic = broadcast.channel.bundleID
        case .manage(let command): subject.topic = command.bundleID
        case .respond, .reject: break
        }
        return subject
    }

    /// Performs a fault in the place of a decision, or before it.
    mutating func perform(
        _ fault: FaultDecision,
        _ stream: UInt32,
        _ decision: ProviderSession.Decision,
        _ batch: inout Batch
    ) {
        self.listener.logger.info("fault", metadata: ["rules": "\(fault.rules.joined(separator: ", "))"])
        if let limit = fault.streamLimit { batch.handle.announce(streamLimit: limit) }
        switch fault.connection {
        case .close:
            self.ignoresRequests = true
            return batch.handle.close()
        case .stall:
            self.ignoresRequests = true
            return batch.handle.stall()
        case .goAway(let goAway):
            self.finish(batch)
            batch = Batch(handle: batch.handle)
            self.goAway(goAway, before: stream, batch.handle)
            guard goAway.finishesStreams else {
                self.ignoresRequests = true
                return
            }
        case nil: break
        }
        switch fault.response {
        case .reject(let reason, let retryAfter):
            return batch.responses.append((stream, Self.rejection(reason, retryAfter, for: decision)))
        case .reset(let code):
            return batch.handle.reset(stream, HTTP2ErrorCode(rawValue: code.value) ?? .internalError)
        case .drop, nil: break
        }
        switch fault.before {
        case .stall: return
        case .wait(let time):
            let (handler, handle) = (self, batch.handle)
            // A delayed request is a batch of its own, as all others are handled meanwhile.
            handle.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(time)) {
                var batch = Batch(handle: handle)
                handler.perform(decision, stream, &batch)
                handler.finish(batch)
            }
        case nil: self.perform(decision, stream, &batch)
        }
    }

    private func goAway(_ goAway: FaultAction.GoAway, before stream: UInt32, _ handle: ProviderConnectionProxy) {
        let code = HTTP2ErrorCode(rawValue: goAway.code.value) ?? .noError
        let text = goAway.text.map { #"{"reason":"\#($0)"}"# } ?? ""
        // Without this request and the following ones, which have not been processed.
        let last = stream > 2 ? stream - 2 : 0
        handle.goAway(code, debugData: text, lastStream: goAway.finishesStreams ? nil : last)
    }

    /// Returns a rejection with the ids that the right response would have had.
    private static func rejection(
        _ reason: Reason,
        _ retryAfter: Int?,
        for decision: ProviderSession.Decision
    ) -> ProviderResponse {
        let right: ProviderResponse? =
            switch decision {
            case .submit(_, let response), .broadcast(_, let response), .respond(let response),
                .reject(_, let response):
                response
            case .manage: nil
            }
        var response =
            right?.requestID.map { ProviderResponse.rejected(reason, requestID: $0) }
            ?? .rejected(reason, apnsID: right?.apnsID ?? "")
        if case .manage(let command) = decision { response = .rejected(reason, requestID: command.requestID) }
        response.retryAfter = retryAfter
        return response
    }
}

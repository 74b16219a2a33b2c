import Logging
import NIOCore
import PushSupport
import PushTypes
import PushWire

/// Handles the requests of one provider connection. Rejections are sent immediately, and responses to accepted pushes
/// when the router has settled the pushes.
struct ProviderRequestHandler: ProviderRequestDelegate {
    private let listener: ProviderListener
    private var session: ProviderSession
    /// The reason for closing the connection immediately because its certificate is invalid (reference 1.2), or `nil`
    /// if it has a valid certificate or none.
    private let certificateError: Reason?
    private var handle: ProviderConnectionProxy?
    /// The number of requests on this connection so far, which determines the requests to which fault rules apply.
    private var ordinal = 0
    /// A Boolean value that indicates whether a fault or too many invalid tokens stopped the handling of requests.
    private var ignoresRequests = false

    init(listener: ProviderListener, session: ProviderSession, certificateError: Reason?) {
        (self.listener, self.session, self.certificateError) = (listener, session, certificateError)
    }

    private struct Batch {
        let handle: ProviderConnectionProxy
        var submissions: [Submission] = []
        var pending: [(stream: UInt32, response: ProviderResponse)] = []
        var responses: [(stream: UInt32, response: ProviderResponse)] = []
    }

    var isAuthenticated: Bool { self.session.credential != nil }

    mutating func connectionOpened(_ handle: ProviderConnectionProxy) {
        self.handle = handle
        guard let reason = self.certificateError else { return }
        self.listener.rejectionLog.write("certificate rejected", reason)
        handle.goAway(reason)
    }

    mutating func receive(_ events: [HTTP2ServerEvent]) {
        guard let handle else { return }
        let now = self.listener.time.now
        var batch = Batch(handle: handle)
        var cancelled: [UInt32] = []
        batch.submissions.reserveCapacity(events.count)
        batch.pending.reserveCapacity(events.count)
        for event in events {
            switch event {
            case .request(let stream, let request):
                if !self.ignoresRequests { self.receive(request, stream, &batch, now: now) }
            case .cancelled(let stream): cancelled.append(stream)
            case .finished: break
            }
        }
        self.finish(batch)
        if !cancelled.isEmpty { handle.forget(cancelled) }
    }

    private mutating func receive(_ request: ProviderRequest, _ stream: UInt32, _ batch: inout Batch, now: Timestamp) {
        let result = self.session.receive(request, now: now)
        self.ordinal += 1
        if let algorithm = result.algorithm {
            let rule = "Apple documents ES256 only, and the header says \(algorithm.rawValue)"
            self.listener.rejectionLog.write("undocumented provider token accepted", .invalidProviderToken, rule: rule)
        }
        if let fault = self.fault(request, result.decision, now: now) {
            self.perform(fault, stream, result.decision, &batch)
        } else {
            self.perform(result.decision, stream, &batch)
        }
        if let instruction = result.instruction { self.perform(instruction, after: stream, &batch) }
    }

    // MARK: Decisions

    private func perform(_ decision: ProviderSession.Decision, _ stream: UInt32, _ batch: inout Batch) {
        switch decision {
        case .submit(let push, let response):
            batch.pending.append((stream, response))
            batch.submissions.append(Submission(push: push, owner: batch.handle, ticket: stream))
        case .broadcast(let broadcast, let response):
            batch.handle.expect([(stream, response)])
            self.listener.router.submit(broadcast, owner: batch.handle, ticket: stream)
        case .manage(let command):
            let (channels, handle) = (self.listener.channels, batch.handle)
            Task { handle.respond(stream, await channels.perform(command)) }
        case .respond(let response): batch.responses.append((stream, response))
        case .reject(let rejection, let response):
            self.note(rejection, response)
            batch.responses.append((stream, response))
        }
    }

    private func finish(_ batch: Batch) {
        if !batch.responses.isEmpty { batch.handle.respond(batch.responses) }
        guard !batch.submissions.isEmpty else { return }
        batch.handle.expect(batch.pending)
        self.listener.router.submit(batch.submissions)
    }

    /// Performs an instruction of the session. Pushes accepted before a GOAWAY still receive their responses.
    private mutating func perform(
        _ instruction: ProviderSession.Instruction,
        after stream: UInt32,
        _ batch: inout Batch
    ) {
        self.finish(batch)
        batch = Batch(handle: batch.handle)
        switch instruction {
        case .announce(let limit): batch.handle.announce(streamLimit: limit)
        case .goAway(let reason): batch.handle.goAway(reason)
        case .endWithoutProcessing:
            self.ignoresRequests = true
            batch.handle.goAway(.enhanceYourCalm, debugData: "too many invalid provider tokens", lastStream: stream)
        }
    }

    /// Logs a rejection, and reports the push's device or token to the router.
    private func note(_ rejection: ProviderRejection, _ response: ProviderResponse) {
        let id = response.apnsID ?? response.requestID ?? ""
        let rule = rejection.rule.map { "\($0)" }
        self.listener.rejectionLog.write("request rejected", rejection.reason, id: id, rule: rule)
        if let recipient = rejection.recipient {
            self.listener.router.rejectedTooMany(device: recipient.device, topic: recipient.topic, apnsID: id)
        }
        if let token = rejection.token { self.listener.router.rejected(token, apnsID: id) }
    }
}

extension ProviderRequestHandler {
    /// Returns the fault that applies to a request, or `nil` if there is none.
    private func fault(
        _ request: ProviderRequest,
        _ decision: ProviderSession.Decision,
        now: Timestamp
    ) -> FaultDecision? {
        self.listener.faults.decide(at: .request, for: self.subject(request, decision), now: now)
    }

    private func subject(_ request: ProviderRequest, _ decision: ProviderSession.Decision) -> FaultSubject {
        var subject = FaultSubject(
            listener: .http2,
            environment: self.listener.environment,
            topic: request.fields.topic.flatMap { Topic($0) },
            credential: self.session.credential,
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

    /// Applies a fault to a request: before the `decision` is performed, or instead of it.
    private mutating func perform(
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
        case .reset(let code): return batch.handle.reset(stream, HTTP2ErrorCode(rawValue: code.value) ?? .internalError)
        case .drop, nil: break
        }
        switch fault.before {
        case .stall: return
        case .wait(let time):
            let (handler, handle) = (self, batch.handle)
            // A delayed request is a batch of its own, because other requests are handled during the delay.
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

    /// Returns a rejection with the same ids as the response that it replaces.
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

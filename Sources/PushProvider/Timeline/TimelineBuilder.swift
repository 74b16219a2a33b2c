import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTypes

enum TimelineBuilder {
    static func timeline(of facts: DeliveryFacts) -> Timeline {
        let (notification, history) = (facts.notification, facts.history)
        var timeline = Timeline(
            kind: .delivery,
            notification: notification.id,
            app: facts.app,
            apnsID: DeliveryID(notification: notification.id).text(recipient: facts.recipient),
            device: history.delivery?.device,
            token: history.delivery?.token?.description,
            environment: history.delivery?.environment ?? notification.environment,
            state: history.delivery?.state.word ?? "pending",
            reason: history.delivery?.reason
        )
        var steps = Self.beginning(of: notification, history.beginning)
        steps += history.attempts.map(Self.step)
        steps += Self.page(of: history)
        steps += Self.nextTry(facts)
        steps += history.tokenEvents.map(Self.step)
        steps += Self.webhooks(history.events, "its event")
        if case .events(let events) = facts.gateway {
            steps += events.map { .init($0.at, .gateway, .reported, $0.text) }
        }
        steps += history.delivery?.receipts.map(Self.step) ?? []
        timeline.steps = steps.ordered
        timeline.notes = Self.notes(facts)
        return timeline
    }

    /// Returns the step for the next attempt. If a paused environment holds it back, the time is the next probe's.
    private static func nextTry(_ facts: DeliveryFacts) -> [TimelineStep] {
        if let pause = facts.pause {
            // While a probe is in progress, the time of the next one is not known.
            let at = pause.nextProbeAt ?? facts.clocks.wall
            return [.init(at, .provider, .waits, "next probe of its paused environment: \(pause.fault.description)")]
        }
        guard let next = facts.history.nextTryAt else { return [] }
        let isDue = next == .atOnce || facts.history.heldFor != nil
        let wall = facts.clocks.wall.advanced(by: next.since(facts.clocks.steady))
        return [.init(isDue ? facts.clocks.wall : wall, .provider, .waits, isDue ? "is due again" : "next try")]
    }

    /// Returns the timeline of a notification: its own steps, and a summary of its pages.
    static func timeline(of facts: NotificationFacts) -> Timeline {
        let (notification, history) = (facts.notification, facts.history)
        var timeline = Timeline(
            kind: .notification,
            notification: notification.id,
            app: facts.app,
            environment: notification.environment,
            state: notification.state.rawValue,
            reason: notification.progress.pauseReason
        )
        var steps = Self.beginning(of: notification, history.beginning)
        if let pages = history.pages { steps += Self.pages(pages, "page") }
        if let pages = history.retryPages { steps += Self.pages(pages, "page of retries", "pages of retries") }
        steps += Self.webhooks(history.firstEvents, "events of its first page")
        if history.lastEvents != history.firstEvents {
            steps += Self.webhooks(history.lastEvents, "events of its last page")
        }
        if let end = notification.progress.finishedAt {
            let word = notification.state == .cancelled ? "cancelled" : "done"
            steps.append(.init(end, .provider, .finished, "\(word): \(notification.progress.summary)"))
        }
        timeline.steps = steps.ordered
        if notification.progress.finishedAt == nil {
            timeline.notes.append("so far: \(notification.progress.summary)")
        }
        let receipts = facts.receipts.filter { $0.action == nil }.map(\.text)
        if !receipts.isEmpty { timeline.notes.append("receipts: \(receipts.joined(separator: ", "))") }
        if notification.isForgotten { timeline.notes.append(Self.forgotten) }
        if history.pages == nil, history.retryPages == nil, notification.progress.hasResponses {
            timeline.notes.append("no pages of it were recorded")
        }
        return timeline
    }

    private static let forgotten = "some of its deliveries are deleted for their age"

    // MARK: The request

    /// Returns the steps from the request to the opening of the notification.
    private static func beginning(
        of notification: NotificationRecord,
        _ beginning: NotificationBeginning
    ) -> [TimelineStep] {
        let acceptance = beginning.acceptance
        var steps: [TimelineStep] = []
        let key = notification.key.map { " with the key \($0.name) (\($0.id.uuidString.lowercased()))" } ?? ""
        if let received = acceptance.receivedAt {
            steps.append(.init(received, .api, .requested, "request to send\(key)"))
            if let checked = acceptance.checkedIn {
                let count = acceptance.warnings.count
                let warnings = count == 0 ? "no warning" : "\(count) warning\(count == 1 ? "" : "s"): "
                let text = warnings + acceptance.warnings.joined(separator: "; ")
                let at = received.advanced(by: .microseconds(checked))
                steps.append(
                    .init(at, .provider, .checked, "checked in \(Duration.microseconds(checked).readable), \(text)")
                )
            }
        }
        var accepted = "accepted: on disk"
        if let name = notification.name { accepted += ", \u{201C}\(name)\u{201D}" }
        if let run = notification.run {
            accepted += ", run of the schedule \(run.schedule.uuidString.lowercased())\(key)"
        }
        if let original = notification.resendOf {
            accepted += ", for recipients of \(original.uuidString.lowercased())"
        }
        if acceptance.receivedAt == nil, notification.run == nil { accepted += key }
        steps.append(.init(notification.createdAt, .provider, .accepted, accepted))
        if notification.startsAt > notification.createdAt {
            let text = "its time: \(notification.delivery == nil ? "starts" : "the first recipients' window") opens"
            steps.append(.init(notification.startsAt, .provider, .scheduled, text))
        }
        if let opened = beginning.openedAt {
            let count = notification.progress.recipients
            let text = "opened for \(count) recipient\(count == 1 ? "" : "s")"
            steps.append(.init(opened, .provider, .opened, text))
        }
        return steps
    }

    // MARK: Pages and tries

    private static func pages(_ pages: PageSummary, _ one: String, _ many: String? = nil) -> [TimelineStep] {
        let name = pages.pages == 1 ? one : many ?? "\(one)s"
        let count = pages.recipients
        return [
            .init(pages.firstClaimedAt, .provider, .claimed, "first \(one) claimed"),
            .init(pages.firstSentAt, .sender, .sent, "first \(one) sent"),
            .init(
                pages.lastAnsweredAt,
                .pushService,
                .answered,
                "last response; the slowest \(one) took \(pages.longest.readable)"
            ),
            .init(
                pages.lastCommittedAt,
                .provider,
                .pages,
                "\(pages.pages) \(name) with \(count) recipient\(count == 1 ? "" : "s") on disk"
            ),
        ]
    }

    /// Returns the steps of the page in which a delivery got its final state.
    private static func page(of history: DeliveryHistory) -> [TimelineStep] {
        guard let delivery = history.delivery, delivery.state != .sending else {
            guard let delivery = history.delivery else { return [] }
            return [.init(delivery.at, .sender, .sent, "is being sent, at most once")]
        }
        let hasResponse = delivery.state == .accepted || delivery.state == .rejected
        guard let page = history.page else {
            let source = hasResponse ? TimelineStep.Source.pushService : .provider
            return [.init(delivery.at, source, hasResponse ? .answered : .ended, Self.result(delivery))]
        }
        var steps: [TimelineStep] = []
        if let claimed = page.times.claimedAt {
            let others = max(1, page.recipients) - 1
            let beside = others > 0 ? " with \(others) other\(others == 1 ? "" : "s")" : ""
            let text = "claimed as \(page.isRetry ? "a retry" : "part of a page")\(beside)"
            steps.append(.init(claimed, .provider, .claimed, text))
        }
        let sentAt = page.times.sentAt
        guard let milliseconds = history.milliseconds else {
            // There was no push, or its transmission is not known.
            steps.append(.init(delivery.at, .provider, .ended, Self.result(delivery)))
            steps.append(.init(page.committedAt, .provider, .committed, "its final state is on disk"))
            return steps
        }
        steps += Self.sending(over: history.connection, at: sentAt)
        let answeredAt = sentAt.advanced(by: .milliseconds(milliseconds))
        let source = hasResponse ? TimelineStep.Source.pushService : .sender
        let text = "\(Self.result(delivery)), after \(Duration.milliseconds(milliseconds).readable)"
        steps.append(.init(answeredAt, source, hasResponse ? .answered : .ended, text))
        steps.append(.init(page.committedAt, .provider, .committed, "its final state is on disk"))
        return steps
    }

    /// Returns the steps of handing the push to a connection, including its opening if the push waited for that.
    private static func sending(over connection: OpenedConnection?, at time: Timestamp) -> [TimelineStep] {
        guard let connection else { return [.init(time, .sender, .sent, "handed to the sender")] }
        guard connection.openedAt > time else {
            let since = ", connected since \(connection.openedAt.rfc3339)"
            return [.init(time, .sender, .sent, "sent to \(connection.text)\(since)")]
        }
        return [
            .init(time, .sender, .waits, "waits for a connection"),
            .init(connection.openedAt, .sender, .connected, "connection to \(connection.service) opened"),
            .init(connection.openedAt, .sender, .sent, "sent to \(connection.text)"),
        ]
    }

    private static func result(_ delivery: DeliveryRecord) -> String {
        let reason = delivery.reason.map { ": \($0)" } ?? ""
        let tries = delivery.attempts > 1 ? ", try \(delivery.attempts)" : ""
        return "\(delivery.state.word)\(reason)\(tries)"
    }

    private static func step(_ attempt: AttemptRecord) -> TimelineStep {
        var text = attempt.wasSent ? "try without success" : "not sent"
        if let reason = attempt.reason { text += ": \(reason)" }
        if attempt.times > 1 { text += ", \(attempt.times) times since \(attempt.firstAt.rfc3339)" }
        if attempt.wasSent, let milliseconds = attempt.milliseconds {
            text += ", after \(Duration.milliseconds(milliseconds).readable)"
        }
        if let connection = attempt.connection { text += ", by \(connection.text)" }
        return TimelineStep(attempt.at, attempt.wasSent ? .pushService : .sender, .tried, text)
    }

    // MARK: Tokens and webhooks

    private static func step(_ event: TokenEventRecord) -> TimelineStep {
        let reason = event.reason.map { ": \($0)" } ?? ""
        return TimelineStep(event.at, .provider, .tokenChanged, "token \(event.action.phrase)\(reason)")
    }

    private static func step(_ receipt: ReceiptRecord) -> TimelineStep {
        let action = receipt.action.map { " \($0)" } ?? ""
        let source = receipt.source == .gateway ? TimelineStep.Source.gateway : .app
        return TimelineStep(receipt.at, source, .receipt, "receipt: \(receipt.event.word)\(action)")
    }

    private static func webhooks(_ events: PageEvents?, _ subject: String) -> [TimelineStep] {
        guard let events else { return [] }
        return events.posts.flatMap { post in
            [
                TimelineStep(post.postedAt, .webhook, .posted, "\(subject) posted to \(post.url.hostText)"),
                TimelineStep(post.acknowledgedAt, .webhook, .acknowledged, "acknowledged by \(post.url.hostText)"),
            ]
        }
    }

    // MARK: Notes

    private static func notes(_ facts: DeliveryFacts) -> [String] {
        var notes: [String] = []
        let (history, notification) = (facts.history, facts.notification)
        if history.delivery == nil {
            if notification.isForgotten {
                notes.append("its delivery is deleted for its age, if there was one")
            } else if history.attempts.isEmpty, history.nextTryAt == nil {
                notes.append(
                    "nothing was sent to this recipient so far: the notification is \(notification.state.rawValue)"
                )
            }
        } else if history.page == nil {
            notes.append("no page of it was recorded")
        }
        for url in history.events?.waiting ?? [] {
            notes.append("the webhook at \(url.hostText) has not acknowledged its event so far")
        }
        if case .failed(let failure) = facts.gateway { notes.append(failure) }
        if case .events([]) = facts.gateway { notes.append("the gateway has no events of this push") }
        return notes
    }
}

extension OpenedConnection {
    fileprivate var text: String {
        var text = self.service
        if let address { text += " (\(address)" + (self.localPort.map { " from port \($0))" } ?? ")") }
        return text
    }
}

extension ReceiptCount {
    fileprivate var text: String {
        let repeated = self.total > self.unique ? ", \(self.total) times" : ""
        return "\(self.event.word) by \(self.unique)\(repeated)"
    }
}

extension NotificationProgress {
    /// A Boolean value that indicates whether the push service has responded about at least one recipient.
    fileprivate var hasResponses: Bool { self.accepted + self.rejected > 0 }

    fileprivate var summary: String {
        let counts = [
            ("accepted", self.accepted), ("rejected", self.rejected), ("failed", self.failed),
            ("skipped", self.skipped), ("unknown", self.unknown), ("retrying", self.retrying),
        ]
        let texts = counts.filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }
        return "of \(self.recipients) " + (texts.isEmpty ? "none has a state" : texts.joined(separator: ", "))
    }
}

extension TokenEventRecord.Action {
    fileprivate var phrase: String {
        switch self {
        case .keptAlive: "kept, as the device registered since"
        case .withheld: "not deactivated, as the circuit breaker is open"
        case .settled: "decided by an operator"
        default: self.rawValue
        }
    }
}

extension String {
    /// The host of a URL. The path is not shown, because it may contain a secret.
    fileprivate var hostText: String { URL(string: self)?.host() ?? "its address" }
}

struct DeliveryFacts: Sendable {
    var notification: NotificationRecord
    var app: Topic?
    var recipient: Int64
    var history: DeliveryHistory
    var gateway: GatewayFacts = .off
    /// The clock reading from which the time of the next attempt is computed.
    var clocks: ClockReading
    /// The pause that holds the next attempt back, or `nil` if none does.
    var pause: EnvironmentStatus?
}

enum GatewayFacts: Hashable, Sendable {
    /// The result if no gateway is configured.
    case off
    case events([GatewayEvent])
    /// The failure of a gateway that did not respond in time, or sent no events. The associated value describes it.
    case failed(String)
}

struct NotificationFacts: Sendable {
    var notification: NotificationRecord
    var app: Topic?
    var history: NotificationHistory
    var receipts: [ReceiptCount] = []
}

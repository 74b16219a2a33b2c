import Foundation
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider
@testable import PushStore

/// The machine that makes timelines of what is stored.
@Suite(.timeLimit(.patience)) struct TimelineBuilderTests {
    private let now = Vectors.issuedAt

    private func after(_ milliseconds: Int64) -> Timestamp { self.now.advanced(by: .milliseconds(milliseconds)) }

    private func facts(_ change: (inout DeliveryFacts) -> Void = { _ in }) throws -> DeliveryFacts {
        var notification = try NotificationRecord.fixture(app: 1, to: .tokens([.numbered(1)]))
        notification.key = KeyReference(id: UUID(), name: "shop")
        notification.createdAt = self.after(4)
        notification.startsAt = self.after(4)
        notification.progress.recipients = 1
        let delivery = DeliveryRecord(
            notification: notification.id,
            position: NotificationCursor(number: 1),
            recipient: -1,
            device: 7,
            token: .numbered(1),
            environment: .sandbox,
            state: .accepted,
            reason: nil,
            attempts: 1,
            at: self.after(40)
        )
        let connection = OpenedConnection(
            service: "api.example.com:443",
            address: "192.0.2.1:443",
            localPort: 50_123,
            openedAt: self.after(-5000)
        )
        let page = PageRecord(
            times: PageTimes(claimedAt: self.after(10), sentAt: self.after(11), answeredAt: self.after(40)),
            committedAt: self.after(44),
            recipients: 1,
            isRetry: false,
            block: nil
        )
        var facts = DeliveryFacts(
            notification: notification,
            app: Topic(Vectors.bundleID),
            recipient: -1,
            history: DeliveryHistory(
                beginning: NotificationBeginning(
                    acceptance: AcceptanceRecord(receivedAt: self.now, checkedIn: 2500, warnings: ["a: b"]),
                    openedAt: self.after(4)
                ),
                delivery: delivery,
                connection: connection,
                milliseconds: 20,
                page: page,
                attempts: []
            ),
            clocks: ClockReading(self.after(1000))
        )
        change(&facts)
        return facts
    }

    private func events(_ timeline: Timeline) -> [TimelineStep.Event] { timeline.steps.map(\.event) }

    @Test func theStepsComeInTheirOrder() throws {
        let timeline = TimelineBuilder.timeline(of: try self.facts())
        #expect(
            self.events(timeline) == [
                .requested, .checked, .accepted, .opened, .claimed, .sent, .answered, .committed,
            ]
        )
        #expect(zip(timeline.steps, timeline.steps.dropFirst()).allSatisfy { $0.at <= $1.at })
        #expect(timeline.state == "accepted" && timeline.notes.isEmpty)
        #expect(timeline.steps[0].text.contains("shop"))
        #expect(timeline.steps[1].text == "checked in 2 ms, 1 warning: a: b")
        #expect(timeline.steps[5].text.contains("192.0.2.1:443 from port 50123"))
        #expect(timeline.steps[6].at == self.after(31) && timeline.steps[6].source == .pushService)
        let texts = timeline.steps.map(\.text).joined() + (timeline.token ?? "")
        #expect(!texts.contains(DeviceToken.numbered(1).hex), "whole tokens are never shown")
    }

    @Test func aNewConnectionIsAStep() throws {
        let facts = try self.facts { $0.history.connection?.openedAt = self.after(15) }
        let timeline = TimelineBuilder.timeline(of: facts)
        #expect(self.events(timeline).suffix(5) == [.waits, .connected, .sent, .answered, .committed])
    }

    @Test func triesAndTheNextOneAreSteps() throws {
        let facts = try self.facts { facts in
            facts.history.delivery = nil
            facts.history.page = nil
            facts.history.milliseconds = nil
            facts.history.attempts = [
                AttemptRecord(
                    at: self.after(300),
                    times: 37,
                    firstAt: self.after(20),
                    wasSent: false,
                    reason: "refused"
                ),
                AttemptRecord(
                    at: self.after(500),
                    times: 1,
                    firstAt: self.after(500),
                    wasSent: true,
                    reason: "ServiceUnavailable",
                    milliseconds: 3
                ),
            ]
            facts.history.nextTryAt = self.after(3000)
            facts.clocks = ClockReading(wall: self.after(1000 + 60_000), steady: self.after(1000))
        }
        let timeline = TimelineBuilder.timeline(of: facts)
        #expect(self.events(timeline).suffix(3) == [.tried, .tried, .waits])
        #expect(timeline.steps.suffix(3).map(\.source) == [.sender, .pushService, .provider])
        #expect(timeline.steps.dropLast(2).last?.text.contains("37 times") == true)
        #expect(timeline.steps.last?.at == self.after(63_000), "by the wall clock")
        #expect(timeline.state == "pending")
    }

    @Test func whatIsNotKnownIsANote() throws {
        let old = try self.facts { facts in
            facts.history.beginning = NotificationBeginning(acceptance: AcceptanceRecord())
            facts.history.page = nil
            facts.history.milliseconds = nil
            facts.gateway = .failed("silent")
        }
        let timeline = TimelineBuilder.timeline(of: old)
        #expect(self.events(timeline) == [.accepted, .answered])
        #expect(timeline.steps[0].text.contains("shop"), "the key is named where the request is not known")
        #expect(timeline.notes.count == 2)
        #expect(timeline.notes.contains("no page of it was recorded"))
        #expect(timeline.notes.contains { $0.contains("silent") })
        let forgotten = try self.facts { facts in
            facts.notification.isForgotten = true
            facts.history = DeliveryHistory(beginning: facts.history.beginning, attempts: [])
        }
        #expect(
            TimelineBuilder.timeline(of: forgotten).notes == ["its delivery is deleted for its age, if there was one"]
        )
    }

    /// A held recipient is due at its expiration; what it waits for is the probe.
    @Test(arguments: [14_000, nil] as [Int64?])
    func aPausedEnvironmentShowsTheMomentOfItsProbe(probe: Int64?) throws {
        let fault = ConfigurationFault(.refused, detail: "Connection refused", host: "localhost", port: 2197)
        let facts = try self.facts { facts in
            facts.history.delivery = nil
            facts.history.page = nil
            facts.history.milliseconds = nil
            facts.history.nextTryAt = self.after(30 * 86_400_000)
            facts.history.heldFor = .one(.sandbox)
            facts.clocks = ClockReading(wall: self.after(9000), steady: self.after(9000))
            let status = ConfigurationFaultStateMachine.Status(
                fault: fault,
                proofs: 3,
                since: self.after(100),
                isPaused: true,
                nextProbeAt: probe.map(self.after)
            )
            facts.pause = EnvironmentStatus(status, facts.clocks)
        }
        let step = try #require(TimelineBuilder.timeline(of: facts).steps.last)
        #expect(step.event == .waits && step.at == self.after(probe ?? 9000))
        #expect(step.text.contains("probe") && step.text.contains("localhost:2197"))
        // Released, and not yet tried.
        var released = facts
        released.pause = nil
        let next = try #require(TimelineBuilder.timeline(of: released).steps.last)
        #expect(next.at == self.after(9000) && next.text == "is due again")
    }

    @Test func aNotificationWithoutResponsesHasNoPagesToRecord() throws {
        var facts = NotificationFacts(
            notification: try self.facts().notification,
            app: nil,
            history: NotificationHistory(beginning: try self.facts().history.beginning)
        )
        facts.notification.progress.startedAt = self.after(10)
        facts.notification.progress.retrying = 1
        #expect(TimelineBuilder.timeline(of: facts).notes == ["so far: of 1 1 retrying"])
        facts.notification.progress.accepted = 1
        #expect(TimelineBuilder.timeline(of: facts).notes.contains("no pages of it were recorded"))
    }

    @Test func receiptsAreStepsOfADeliveryAndCountsOfANotification() throws {
        let facts = try self.facts { facts in
            facts.history.delivery?.receipts = [
                ReceiptRecord(
                    event: .action,
                    action: "REPLY",
                    source: .app,
                    at: self.after(9000),
                    receivedAt: self.after(9500),
                    device: 7,
                    subject: 7
                )
            ]
        }
        let step = try #require(TimelineBuilder.timeline(of: facts).steps.last)
        #expect(step == TimelineStep(self.after(9000), .app, .receipt, "receipt: action REPLY"))
        let whole = NotificationFacts(
            notification: facts.notification,
            app: nil,
            history: NotificationHistory(beginning: facts.history.beginning),
            receipts: [
                ReceiptCount(event: .delivered, unique: 5, total: 5), ReceiptCount(event: .opened, unique: 2, total: 3),
                ReceiptCount(event: .action, action: "REPLY", unique: 1, total: 1),
            ]
        )
        let notes = TimelineBuilder.timeline(of: whole).notes
        #expect(notes.contains("receipts: delivered by 5, opened by 2, 3 times"))
    }

    @Test func anUnknownPushIsNotTheServicesWord() throws {
        let facts = try self.facts { facts in
            facts.history.delivery?.state = .unknown
            facts.history.delivery?.reason = "connection lost"
        }
        let step = try #require(TimelineBuilder.timeline(of: facts).steps.first { $0.event == .ended })
        #expect(step.source == .sender && step.text.hasPrefix("unknown: connection lost"))
    }

    @Test func tokenEventsWebhooksAndTheGatewayJoin() throws {
        let facts = try self.facts { facts in
            facts.history.tokenEvents = [
                TokenEventRecord(
                    id: 1,
                    app: 1,
                    device: 7,
                    token: .numbered(1),
                    environment: .sandbox,
                    action: .deactivated,
                    reason: "Unregistered",
                    at: self.after(43)
                )
            ]
            let post = WebhookPostRecord(
                webhook: UUID(),
                url: "https://hooks.example.com/secret-path",
                postedAt: self.after(60),
                acknowledgedAt: self.after(80)
            )
            facts.history.events = PageEvents(at: self.after(44), posts: [post], waiting: ["https://two.example.com/x"])
            facts.gateway = .events([
                GatewayEvent(id: 1, name: "received", text: "Received by APNs", at: self.after(25), apnsID: nil)
            ])
        }
        let timeline = TimelineBuilder.timeline(of: facts)
        #expect(
            self.events(timeline).suffix(7) == [
                .sent, .reported, .answered, .tokenChanged, .committed, .posted, .acknowledged,
            ]
        )
        #expect(timeline.steps.allSatisfy { !$0.text.contains("secret-path") })
        #expect(timeline.notes == ["the webhook at two.example.com has not acknowledged its event so far"])
    }

    @Test func aNotificationSumsItsPagesUp() throws {
        var notification = try self.facts().notification
        notification.state = .done
        notification.progress.finishedAt = self.after(900)
        (notification.progress.accepted, notification.progress.unknown) = (1999, 1)
        notification.progress.recipients = 2000
        let pages = PageSummary(
            pages: 2,
            recipients: 2000,
            firstClaimedAt: self.after(10),
            firstSentAt: self.after(11),
            lastAnsweredAt: self.after(800),
            lastCommittedAt: self.after(880),
            longest: .milliseconds(700)
        )
        let history = NotificationHistory(
            beginning: NotificationBeginning(acceptance: AcceptanceRecord(), openedAt: self.after(4)),
            pages: pages
        )
        let timeline = TimelineBuilder.timeline(
            of: NotificationFacts(
                notification: notification,
                app: nil,
                history: history
            )
        )
        #expect(self.events(timeline) == [.accepted, .opened, .claimed, .sent, .answered, .pages, .finished])
        #expect(timeline.steps.last?.text == "done: of 2000 1999 accepted, 1 unknown")
        #expect(timeline.steps.dropLast().last?.text == "2 pages with 2000 recipients on disk")
    }
}

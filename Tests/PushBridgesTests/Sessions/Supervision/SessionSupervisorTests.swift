import NIOCore
import ProviderModel
import PushBridges
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@Suite struct SessionSupervisorTests {
    private func supervisor(_ settings: [String: JSONValue] = [:]) throws -> SessionSupervisor {
        SessionSupervisor(
            settings: try ChatPushSettings(.object(settings)),
            memory: ChatMemory(seenThrough: .start),
            seed: 1
        )
    }

    /// Returns a supervisor whose session is signed in.
    private func signedIn(_ settings: [String: JSONValue] = [:]) throws -> SessionSupervisor {
        var supervisor = try self.supervisor(settings)
        self.signIn(&supervisor, at: .start)
        return supervisor
    }

    private func signIn(_ supervisor: inout SessionSupervisor, at time: Timestamp) {
        _ = supervisor.start(at: ClockReading(time))
        _ = supervisor.began(at: ClockReading(time))
        _ = supervisor.opened(ScriptedSession(), at: ClockReading(time))
        _ = supervisor.received("in", at: time)
    }

    // MARK: Connecting

    @Test func itConnectsWhenItIsItsTurn() throws {
        var supervisor = try self.supervisor()
        #expect(supervisor.start(at: ClockReading(.start)) == [.open])
        // However long it waits for that.
        #expect(supervisor.status == .waiting && supervisor.nextDeadline == nil)
        let hasBegun = supervisor.began(at: ClockReading(.after(100)))
        #expect(hasBegun && supervisor.status == .signingIn && supervisor.nextDeadline == .after(190))
        let hasBegunAgain = supervisor.began(at: ClockReading(.after(100)))
        #expect(!hasBegunAgain)
        #expect(supervisor.opened(ScriptedSession(), at: ClockReading(.after(101))) == [.send(Array("hello".utf8))])
        #expect(supervisor.received("in", at: .after(102)) == [])
        #expect(supervisor.status == .signedIn && supervisor.nextDeadline == nil)
        // A second connection is not wanted.
        #expect(supervisor.opened(ScriptedSession(), at: ClockReading(.after(103))) == [.close])
    }

    /// Strangers send some of what a server sends.
    @Test func aServerThatSendsMuchIsNotHeardForAWhile() throws {
        var limits = SessionSupervisor.Limits()
        limits.bytes = 100
        var supervisor = SessionSupervisor(
            settings: try ChatPushSettings(.object([:])),
            memory: ChatMemory(seenThrough: .start),
            seed: 1,
            limits: limits
        )
        var other = supervisor
        let many = String(repeating: " ", count: 101)
        self.signIn(&supervisor, at: .start)
        #expect(supervisor.mayRead(at: ClockReading(.start)))
        #expect(supervisor.received(many, at: .after(1)) == [])
        #expect(!supervisor.mayRead(at: ClockReading(.after(9))) && supervisor.nextDeadline == .after(10))
        #expect(supervisor.timePassed(at: ClockReading(.after(10))) == [])
        #expect(supervisor.mayRead(at: ClockReading(.after(10))) && supervisor.nextDeadline == nil)
        // One that has not accepted the account is left.
        _ = other.start(at: ClockReading(.start))
        _ = other.began(at: ClockReading(.start))
        _ = other.opened(ScriptedSession(), at: ClockReading(.start))
        #expect(other.received(many, at: .start) == [.close])
    }

    @Test func aConnectionThatLeadsToNoSignInIsClosed() throws {
        var supervisor = try self.supervisor()
        _ = supervisor.start(at: ClockReading(.start))
        _ = supervisor.began(at: ClockReading(.start))
        #expect(supervisor.timePassed(at: ClockReading(.after(89))) == [])
        #expect(supervisor.timePassed(at: ClockReading(.after(90))) == [.close])
        #expect(supervisor.status == .waiting && supervisor.progress.lastError?.contains("90 s") == true)
    }

    /// Fails as often as given with a failure that may be a refusal.
    private func refuse(_ supervisor: inout SessionSupervisor, _ count: Int) {
        var now = Timestamp.start
        for _ in 0..<count {
            _ = supervisor.timePassed(at: ClockReading(now))
            _ = supervisor.began(at: ClockReading(now))
            _ = supervisor.closed(ChatFailure("x", mayBeRefusal: true), at: ClockReading(now))
            now = supervisor.nextDeadline ?? now
        }
    }

    @Test func severalEndsThatMayBeRefusalsAreOne() throws {
        var supervisor = try self.supervisor()
        _ = supervisor.start(at: ClockReading(.start))
        self.refuse(&supervisor, 2)
        #expect(supervisor.status == .waiting)
        var failed = try self.supervisor()
        _ = failed.start(at: ClockReading(.start))
        self.refuse(&failed, 3)
        #expect(failed.status == .failed && failed.lastError == "x")
        // The server may have been starting.
        #expect(!failed.progress.hasFailed)
        let again = try #require(failed.nextDeadline)
        #expect(failed.timePassed(at: ClockReading(again)) == [.open])
        let hasBegun = failed.began(at: ClockReading(again))
        #expect(hasBegun)
        _ = failed.closed(ChatFailure("x", mayBeRefusal: true), at: ClockReading(again))
        #expect(failed.status == .failed && failed.nextDeadline.map { $0.since(again) >= .seconds(1800) } == true)
        // A server that has accepted the password before may be starting.
        var known = try self.signedIn()
        _ = known.closed(nil, at: ClockReading(.start))
        self.refuse(&known, 10)
        #expect(known.status == .waiting)
    }

    @Test func troubleOfASessionThatIsSignedInIsShown() throws {
        var supervisor = try self.signedIn()
        #expect(supervisor.received("trouble tea", at: .after(1)) == [])
        #expect(supervisor.condition.status == .signedIn)
        #expect(supervisor.condition.lastError == "tea")
        _ = supervisor.received("fine", at: .after(2))
        #expect(supervisor.condition.lastError == nil)
    }

    @Test func triesAreMoreAndMoreSeldom() throws {
        var supervisor = try self.supervisor()
        var now = Timestamp.start
        _ = supervisor.start(at: ClockReading(now))
        var delays: [Duration] = []
        for _ in 0..<12 {
            _ = supervisor.began(at: ClockReading(now))
            #expect(supervisor.closed(ChatFailure("x"), at: ClockReading(now)) == [.close])
            let next = try #require(supervisor.nextDeadline)
            delays.append(next.since(now))
            now = next
            #expect(supervisor.timePassed(at: ClockReading(now)) == [.open])
        }
        let limits: [Int64] = [10, 20, 40, 80, 160, 300, 300, 300, 300, 300, 300, 300]
        for (delay, limit) in zip(delays, limits) {
            #expect(delay >= .seconds(5) && delay >= .seconds(limit) / 2 && delay <= .seconds(limit))
        }
        #expect(Set(delays).count > 10)
    }

    @Test func aSessionThatWasStableBeginsWithTheShortestDelay() throws {
        var supervisor = try self.supervisor()
        _ = supervisor.start(at: ClockReading(.start))
        for _ in 0..<5 {
            _ = supervisor.began(at: ClockReading(.start))
            _ = supervisor.closed(nil, at: ClockReading(.start))
            _ = supervisor.timePassed(at: ClockReading(.after(1000)))
        }
        self.signIn(&supervisor, at: .after(1000))
        #expect(supervisor.progress.lastError == nil)
        #expect(supervisor.closed(nil, at: ClockReading(.after(1060))) == [.close])
        let next = try #require(supervisor.nextDeadline)
        #expect(next <= .after(1070))
    }

    @Test func aRefusalEndsASessionThatWasNeverSignedIn() throws {
        var supervisor = try self.supervisor()
        _ = supervisor.start(at: ClockReading(.start))
        _ = supervisor.began(at: ClockReading(.start))
        _ = supervisor.opened(ScriptedSession(), at: ClockReading(.start))
        #expect(supervisor.received("refused", at: .after(1)) == [.close])
        #expect(supervisor.status == .failed && supervisor.nextDeadline == nil)
        #expect(supervisor.progress.hasFailed && supervisor.progress.lastError == "refused")
        // The end of the connection that it closed is no news.
        #expect(supervisor.closed(nil, at: ClockReading(.after(2))) == [])
        #expect(supervisor.status == .failed)
    }

    @Test func oneThatWasSignedInEndsAfterThreeRefusals() throws {
        var supervisor = try self.signedIn()
        for number in 1...3 {
            let time = Timestamp.after(Int64(number) * 1000)
            if number > 1 {
                _ = supervisor.timePassed(at: ClockReading(time))
                _ = supervisor.began(at: ClockReading(time))
                _ = supervisor.opened(ScriptedSession(), at: ClockReading(time))
            }
            #expect(supervisor.received("refused", at: time) == [.close])
            #expect(supervisor.status == (number < 3 ? .waiting : .failed))
        }
    }

    @Test func aPasswordThatWasAcceptedBeforeARestartIsNotGivenUpAtTheFirstRefusal() throws {
        var supervisor = SessionSupervisor(
            settings: try ChatPushSettings(.object([:])),
            memory: ChatMemory(seenThrough: .start),
            wasSignedIn: true,
            seed: 1
        )
        _ = supervisor.start(at: ClockReading(.start))
        _ = supervisor.began(at: ClockReading(.start))
        _ = supervisor.opened(ScriptedSession(), at: ClockReading(.start))
        #expect(supervisor.received("refused", at: .start) == [.close])
        #expect(supervisor.status == .waiting)
    }

    @Test func itStopsAndSaysGoodbye() throws {
        var supervisor = try self.signedIn()
        _ = supervisor.received("message bob", at: .after(1))
        _ = supervisor.received("message bob", at: .after(2))
        let actions = supervisor.stop()
        #expect(actions.pushes.count == 1 && actions.suffix(2) == [.send(Array("bye".utf8)), .close])
        #expect(supervisor.status == .stopped && supervisor.nextDeadline == nil)
        #expect(supervisor.closed(nil, at: ClockReading(.after(3))) == [])
        #expect(supervisor.progress.seenThrough == .after(2))
    }

    @Test func aSessionThatIsRemovedForgetsWhatWaits() throws {
        var supervisor = try self.signedIn()
        _ = supervisor.received("message bob", at: .after(1))
        _ = supervisor.received("message bob", at: .after(2))
        #expect(supervisor.stop(isRemoved: true) == [.send(Array("bye".utf8)), .close])
        #expect(supervisor.status == .stopped && supervisor.nextDeadline == nil)
    }

    // MARK: Pushes

    @Test func directMessagesAndHighlightsArePushed() throws {
        var supervisor = try self.signedIn()
        #expect(supervisor.received("message bob", at: .after(1)).pushes.count == 1)
        #expect(supervisor.received("line #a", at: .after(1)).pushes.isEmpty)
        #expect(supervisor.received("highlight #b", at: .after(1)).pushes.count == 1)
    }

    @Test func theUserChoosesTheLinesOfChannels() throws {
        var all = try self.signedIn(["channelMessages": "all"])
        #expect(all.received("line #a", at: .after(1)).pushes.count == 1)
        var none = try self.signedIn(["channelMessages": "none"])
        #expect(none.received("highlight #a", at: .after(1)).pushes.isEmpty)
        #expect(none.received("message bob", at: .after(1)).pushes.count == 1)
        #expect(throws: RequestError.self) { try self.supervisor(["channelMessages": "some"]) }
        #expect(throws: RequestError.self) { try self.supervisor(["showText": "yes"]) }
    }

    @Test func nothingIsPushedWhileTheUserIsThere() throws {
        var supervisor = try self.signedIn()
        _ = supervisor.received("message bob", at: .after(1))
        _ = supervisor.received("message bob", at: .after(2))
        _ = supervisor.received("attached", at: .after(3))
        #expect(supervisor.status == .attached)
        // They see what waited, and what comes.
        #expect(supervisor.timePassed(at: ClockReading(.after(6))).pushes.isEmpty)
        #expect(supervisor.received("message bob", at: .after(7)).pushes.isEmpty)
        #expect(supervisor.progress.seenThrough == .after(7))
        _ = supervisor.received("detached", at: .after(8))
        #expect(supervisor.received("message bob", at: .after(9)).pushes.count == 1)
    }

    @Test func whoHasJustWrittenIsThere() throws {
        var supervisor = try self.signedIn()
        _ = supervisor.received("message bob", at: .after(1))
        _ = supervisor.received("message bob", at: .after(2))
        _ = supervisor.received("wrote Bob", at: .after(3))
        #expect(supervisor.timePassed(at: ClockReading(.after(6))).pushes.isEmpty)
        #expect(supervisor.received("message eve", at: .after(62)).pushes.isEmpty)
        #expect(supervisor.received("message eve", at: .after(63)).pushes.count == 1)
    }

    @Test func theMessagesOfAConversationAreGathered() throws {
        var supervisor = try self.signedIn()
        #expect(supervisor.received("message bob", at: .after(1)).pushes.map(\.count) == [1])
        #expect(supervisor.received("message Bob", at: .after(2)).pushes.isEmpty)
        #expect(supervisor.received("message bob", at: .after(3)).pushes.isEmpty)
        #expect(supervisor.nextDeadline == .after(6))
        let gathered = supervisor.timePassed(at: ClockReading(.after(6))).pushes
        #expect(gathered.map(\.count) == [2] && gathered.first?.message.at == .after(3))
        #expect(supervisor.timePassed(at: ClockReading(.after(11))).pushes.isEmpty)
        #expect(supervisor.nextDeadline == nil)
    }
}

extension SessionSupervisor {
    fileprivate mutating func received(_ text: String, at time: Timestamp) -> [Action] {
        self.received(ByteBuffer(string: text), at: ClockReading(time))
    }
}

extension [SessionSupervisor.Action] {
    fileprivate var pushes: [ChatPush] {
        self.compactMap { if case .push(let push) = $0 { push } else { nil } }
    }
}

import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushHTTP

/// The accounts of connections, on embedded channels.
@Suite struct ConnectionLimiterTests {
    let loop = EmbeddedEventLoop()
    let news = Topic("com.example.news")
    private let weather = Topic("com.example.weather")

    /// The connections of a listener, and their budget.
    struct Listener {
        let loop: EmbeddedEventLoop
        let budget: Budget
        let held: ConnectionLimiter

        init(_ loop: EmbeddedEventLoop, whole: Int) {
            let bounds = BudgetLimits.Levels<BudgetBound>(
                whole: .held(whole),
                app: .timesFree(2),
                caller: .timesFree(1)
            )
            let budgets = BudgetRegistry([.connections: BudgetLimits(bounds)])
            (self.loop, self.budget) = (loop, budgets[.connections])
            self.held = ConnectionLimiter(budgets, logger: silentLogger) { loop.now }
        }

        /// Opens a connection of a network, a second after the one before. It is closed if there is no room for it.
        func open(_ network: Int = 1, after time: TimeAmount = .seconds(1)) throws -> EmbeddedChannel {
            self.loop.advanceTime(by: time)
            let channel = EmbeddedChannel(loop: self.loop)
            try channel.connect(to: SocketAddress(ipAddress: "10.0.0.\(network)", port: 1)).wait()
            do {
                try self.held.admit(channel)
                try channel.pipeline.syncOperations.addHandler(ConnectionActivityHandler(self.held))
            } catch ChannelError.alreadyClosed {
                // It shows that it is closed.
            }
            self.loop.run()
            return channel
        }

        /// Opens a connection, and moves it to an account.
        func open(_ network: Int = 1, _ account: BudgetCaller) throws -> EmbeddedChannel {
            let channel = try self.open(network)
            try self.held.assign(channel, to: account)
            self.loop.run()
            return channel
        }

        /// Makes a request that waits for its response.
        func begin(_ channel: EmbeddedChannel) throws {
            try channel.writeInbound(HTTPRequestPart.get)
            try channel.writeInbound(HTTPRequestPart.end(nil))
        }

        func end(_ channel: EmbeddedChannel) throws { try channel.writeOutbound(HTTPResponsePart.end(nil)) }
    }

    func key(_ name: String, of app: Topic? = nil) -> BudgetCaller { BudgetCaller(app: app, .name(name)) }

    // MARK: Strangers

    @Test func aNetworkLosesItsLongestIdleConnection() throws {
        let listener = Listener(self.loop, whole: 8)
        let channels = try (0..<4).map { _ in try listener.open() }
        try listener.begin(channels[0])
        let another = try listener.open()
        #expect(channels.map(\.isActive) == [true, false, true, true])
        #expect(another.isActive && listener.budget.usage.held == 4)
        // A response begins the wait anew.
        try listener.end(channels[0])
        let next = try listener.open()
        #expect(channels.map(\.isActive) == [true, false, false, true])
        #expect(next.isActive && listener.budget.usage.held == 4)
    }

    @Test func aStrangerThatIsBusyForLongMakesRoomAtLast() throws {
        let listener = Listener(self.loop, whole: 4)
        let channels = try (0..<2).map { _ in try listener.open() }
        for channel in channels { try listener.begin(channel) }
        // One of two seconds has passed for the first.
        let refused = EmbeddedChannel(loop: self.loop)
        try refused.connect(to: SocketAddress(ipAddress: "10.0.0.1", port: 1)).wait()
        #expect(throws: ChannelError.self) { try listener.held.admit(refused) }
        #expect(!refused.isActive && channels.allSatisfy(\.isActive))
        let another = try listener.open()
        #expect(channels.map(\.isActive) == [false, true])
        #expect(another.isActive && listener.budget.usage.held == 2)
    }

    /// One from each of many networks, whose first requests do not come whole.
    @Test func aNetworkThatHasShownAKeyFindsRoomBesideNewStrangers() throws {
        let listener = Listener(self.loop, whole: 8)
        let known = try listener.open(1, self.key("key", of: self.news))
        let strangers = try (2...5).map { try listener.open($0, after: .milliseconds(1)) }
        #expect(try !listener.open(6, after: .milliseconds(1)).isActive)
        #expect(try listener.open(1, after: .milliseconds(1)).isActive)
        #expect(known.isActive && strangers.allSatisfy { $0.isActive })
    }

    /// One key makes as many networks known as it is shown from, and their new connections make no room either.
    @Test func networksThatHaveShownAKeyHaveHalfAsManyBesides() throws {
        let listener = Listener(self.loop, whole: 20)
        for network in 1...6 { try listener.open(network, self.key("key", of: self.news)).close(promise: nil) }
        self.loop.run()
        let strangers = try (11...20).map { try listener.open($0, after: .milliseconds(1)) }
        #expect(try !listener.open(21, after: .milliseconds(1)).isActive)
        let known = try (1...5).map { try listener.open($0, after: .milliseconds(1)) }
        #expect(try !listener.open(6, after: .milliseconds(1)).isActive)
        #expect((strangers + known).allSatisfy { $0.isActive } && listener.budget.usage.held == 15)
    }

    @Test func theNetworkThatHoldsTheMostMakesRoomForAnother() throws {
        let listener = Listener(self.loop, whole: 8)
        let quiet = try listener.open(2)
        let greedy = try (0..<3).map { _ in try listener.open(1) }
        let another = try listener.open(3)
        #expect(quiet.isActive && another.isActive)
        #expect(greedy.map(\.isActive) == [false, true, true])
    }

    /// A client that shakes hands, or whose first request is on its way, is not the only idle one among those that are busy for good.
    @Test func aNewConnectionIsNotClosedForThoseThatHaveBegun() throws {
        let listener = Listener(self.loop, whole: 8)
        let attackers = try (0..<3).map { _ in try listener.open(1) }
        for channel in attackers { try listener.begin(channel) }
        let honest = try listener.open(2)
        let others = try (0..<3).map { _ in try listener.open(1, after: .milliseconds(10)) }
        #expect(honest.isActive)
        // Those that have been busy for long went, and no new one: the third has not been open for so long.
        #expect(attackers.map(\.isActive) == [false, false, true])
        #expect(others.map(\.isActive) == [true, true, false])
        // After its moment it is idle.
        self.loop.advanceTime(by: .seconds(2))
        for channel in others.prefix(2) { try listener.begin(channel) }
        #expect(try listener.open(3, after: .zero).isActive)
        #expect(!honest.isActive)
    }

    /// The same, where all come from the address of the administrator.
    @Test func aNewConnectionIsNotClosedForThoseOfItsOwnNetwork() throws {
        let listener = Listener(self.loop, whole: 8)
        let attackers = try (0..<3).map { _ in try listener.open(1, after: .milliseconds(10)) }
        for channel in attackers { try listener.begin(channel) }
        let honest = try listener.open(1, after: .milliseconds(10))
        #expect(try !listener.open(1, after: .milliseconds(10)).isActive, "all are new")
        // One has had its response, and may ask again.
        try listener.end(attackers[1])
        #expect(try listener.open(1, after: .milliseconds(10)).isActive)
        #expect(attackers.map(\.isActive) == [true, false, true] && honest.isActive)
        try listener.begin(honest)
        try listener.held.assign(honest, to: self.key("admin"))
        self.loop.run()
        #expect(honest.isActive && listener.budget.usage(of: self.key("admin")).held == 1)
    }

    /// A network that opens connections faster than they grow old takes those of no other.
    @Test(arguments: [true, false]) func aFloodOfOneNetworkLeavesRoomToOthers(_ begins: Bool) throws {
        let listener = Listener(self.loop, whole: 8)
        let flood = try (0..<4).map { _ in try listener.open(1, after: .milliseconds(1)) }
        if begins { for channel in flood { try listener.begin(channel) } }
        let honest = try listener.open(2, after: .milliseconds(1))
        #expect(honest.isActive && flood.map(\.isActive) == [false, true, true, true])
        for _ in 0..<10 { #expect(try !listener.open(1, after: .milliseconds(1)).isActive) }
        #expect(honest.isActive)
        #expect(try listener.open(2, after: .milliseconds(1)).isActive)
        // Now both have as many.
        #expect(try !listener.open(2, after: .milliseconds(1)).isActive)
        #expect(listener.budget.usage.held == 4)
    }

    // MARK: Accounts

    @Test func aKeyThatHasItsShareLosesItsOwn() throws {
        let listener = Listener(self.loop, whole: 8)
        let admin = try listener.open(1, self.key("admin"))
        let greedy = try (0..<20).map { _ in try listener.open(1, self.key("reader", of: self.news)) }
        #expect(admin.isActive)
        #expect(greedy.suffix(3).map(\.isActive) == [true, true, true])
        #expect(greedy.count(where: \.isActive) == 4)
        #expect(listener.budget.usage(of: self.key("reader", of: self.news)).held == 4)
        #expect(try listener.open(1, self.key("admin")).isActive)
    }

    @Test func aBusyKeyIsRefusedWithoutBeingClosed() throws {
        let listener = Listener(self.loop, whole: 4)
        let reader = self.key("reader")
        let channels = try (0..<2).map { _ in try listener.open(1, reader) }
        for channel in channels { try listener.begin(channel) }
        let further = try listener.open()
        let refusal = #expect(throws: BudgetRefusal.self) { try listener.held.assign(further, to: reader) }
        #expect(refusal?.level == .caller && refusal?.error.error.code == "too_many_connections")
        #expect(further.isActive && channels.allSatisfy(\.isActive))
        #expect(listener.budget.usage(of: reader).held == 2 && listener.budget.usage.held == 3)
        try listener.end(channels[1])
        try listener.held.assign(further, to: reader)
        self.loop.run()
        #expect(further.isActive && channels.map(\.isActive) == [true, false])
        #expect(listener.budget.usage.held == 2)
    }

    @Test func manyKeysOfAnAppHaveTheShareOfOneApp() throws {
        let listener = Listener(self.loop, whole: 9)
        let other = try listener.open(1, self.key("a", of: self.weather))
        let keys = try (0..<20).map { number in try listener.open(1, self.key("\(number)", of: self.news)) }
        #expect(other.isActive)
        #expect(keys.count(where: \.isActive) == 6)
        #expect(keys.suffix(6).count(where: \.isActive) == 6)
    }

    /// Networks have no app, and so no share of one.
    @Test func aFullListenerClosesTheLongestIdleOfTheLargest() throws {
        let listener = Listener(self.loop, whole: 6)
        let app = try (0..<3).map { _ in try listener.open(1, self.key("a", of: self.news)) }
        let strangers = try (1...3).map { try listener.open($0) }
        #expect((app + strangers).count(where: \.isActive) == 6)
        let known = try listener.open(4, self.key("b", of: self.weather))
        #expect(known.isActive && app.allSatisfy(\.isActive))
        #expect(strangers.map(\.isActive) == [false, true, true])
        // The strangers have less than their half now, and the listener is full.
        let further = try listener.open(5)
        #expect(further.isActive && app.map(\.isActive) == [false, true, true])
        #expect(listener.budget.usage.held == 6)
    }

    @Test func theFirstAccountStays() throws {
        let listener = Listener(self.loop, whole: 8)
        let channel = try listener.open(1, self.key("a"))
        try listener.held.assign(channel, to: self.key("b"))
        #expect(listener.budget.usage(of: self.key("a")).held == 1)
        #expect(listener.budget.usage(of: self.key("b")).held == 0)
    }

    // MARK: Closing

    @Test func aRequestThatComesMeanwhileIsAnswered() throws {
        let listener = Listener(self.loop, whole: 2)
        let channel = try listener.open()
        let events = EventRecorder()
        try channel.pipeline.syncOperations.addHandler(events)
        self.loop.advanceTime(by: .seconds(2))
        let another = EmbeddedChannel(loop: self.loop)
        try another.connect(to: SocketAddress(ipAddress: "10.0.0.1", port: 1)).wait()
        try listener.held.admit(another)
        channel.pipeline.fireChannelRead(HTTPRequestPart.get)
        self.loop.run()
        #expect(channel.isActive && events.count == 1)
        #expect(listener.budget.usage.held == 1)
        // It counts on no account any more, and does not stay for a body that never ends.
        self.loop.advanceTime(by: .seconds(2))
        #expect(!channel.isActive && another.isActive)
    }

    /// Whatever is opened, moved, used and closed at random, a place is given back once.
    @Test(arguments: 0..<20) func placesAddUp(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let listener = Listener(self.loop, whole: 12)
        var open: [EmbeddedChannel] = []
        for _ in 0..<400 {
            switch Int.random(in: 0..<6, using: &generator) {
            case 0, 1: open.append(try listener.open(Int.random(in: 1...3, using: &generator)))
            case 2:
                let app = [self.news, self.weather, nil].randomElement(using: &generator) ?? nil
                let identities: [BudgetCaller.Identity] = [.name("a"), .name("b"), .network([10, 0, 0, 1])]
                let identity = identities.randomElement(using: &generator) ?? .app
                guard let channel = open.randomElement(using: &generator) else { continue }
                try? listener.held.assign(channel, to: BudgetCaller(app: app, identity))
            case 3:
                guard let channel = open.randomElement(using: &generator) else { continue }
                if Bool.random(using: &generator) {
                    try channel.writeInbound(HTTPRequestPart.get)
                } else {
                    try listener.begin(channel)
                }
            case 4: if let channel = open.randomElement(using: &generator) { try listener.end(channel) }
            default: open.randomElement(using: &generator)?.close(promise: nil)
            }
            self.loop.run()
            open.removeAll { !$0.isActive }
            #expect(listener.budget.usage.held <= 12)
            #expect(listener.budget.usage.held <= open.count)
        }
        for channel in open { channel.close(promise: nil) }
        self.loop.run()
        #expect(listener.budget.usage.held == 0 && listener.budget.usageByApp.isEmpty)
    }
}

/// Counts the requests to end in good order.
final class EventRecorder: ChannelInboundHandler {
    typealias InboundIn = HTTPRequestPart

    private(set) var count = 0

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent { self.count += 1 }
    }
}

extension HTTPRequestPart {
    static var get: Self { .head(HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/")) }
}

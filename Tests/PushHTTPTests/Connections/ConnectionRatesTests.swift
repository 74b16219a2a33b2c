import NIOCore
import NIOEmbedded
import NIOPosix
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushHTTP

/// The rates at which networks open connections.
@Suite struct ConnectionRatesTests {
    private let news = Topic("com.example.news")

    /// The rates of a listener, with a clock that stands still.
    private struct Listener {
        let budgets: BudgetRegistry
        let rates: ConnectionRates

        init(_ limits: [BudgetedResource: BudgetLimits] = [:]) {
            let start = ContinuousClock.now
            self.budgets = BudgetRegistry(limits) { start }
            self.rates = ConnectionRates(self.budgets, logger: silentLogger) { .uptimeNanoseconds(1) }
        }

        /// Opens connections of an address, and returns the number of those that are admitted.
        func open(_ count: Int, from address: String) throws -> Int {
            let address = try SocketAddress(ipAddress: address, port: 1)
            return (0..<count).count { _ in self.rates.admits(address) }
        }

        func refused(_ resource: BudgetedResource) -> [BudgetLevel] { self.budgets[resource].refusals.map(\.level) }
    }

    private func connection(_ address: String) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        try channel.connect(to: SocketAddress(ipAddress: address, port: 1)).wait()
        return channel
    }

    @Test func oneStrangerLeavesRoomForOthers() throws {
        let listener = Listener()
        #expect(try listener.open(200, from: "10.0.0.1") == 100)
        #expect(listener.refused(.strangerConnections) == [.caller])
        #expect(try listener.open(1, from: "10.0.0.2") == 1)
    }

    @Test func manyStrangersLeaveRoomForNetworksThatHaveShownAKey() throws {
        let listener = Listener()
        listener.rates.note(BudgetCaller(app: self.news, .name("key")), on: try self.connection("10.1.0.1"))
        let admitted = try (1...20).map { try listener.open(100, from: "10.0.0.\($0)") }.reduce(0, +)
        #expect(admitted == 1000)
        #expect(listener.refused(.strangerConnections).contains(.whole))
        #expect(try listener.open(1, from: "10.0.0.21") == 0)
        #expect(try listener.open(700, from: "10.1.0.1") == 500)
    }

    /// Its key opens connections from as many networks as it has.
    @Test func oneAppLeavesRoomForOthers() throws {
        let listener = Listener()
        let news = BudgetCaller(app: self.news, .name("key"))
        let weather = BudgetCaller(app: Topic("com.example.weather"), .name("key"))
        for network in 1...4 { listener.rates.note(news, on: try self.connection("10.1.0.\(network)")) }
        listener.rates.note(weather, on: try self.connection("10.2.0.1"))
        #expect(try (1...4).map { try listener.open(500, from: "10.1.0.\($0)") } == [500, 500, 0, 0])
        #expect(listener.refused(.newConnections) == [.app])
        #expect(try listener.open(100, from: "10.2.0.1") == 100)
    }

    @Test func aSiteOfIPv6IsOneNetwork() throws {
        let listener = Listener()
        let admitted = try (1...20).map { try listener.open(10, from: "2001:db8:1:\($0)::1") }.reduce(0, +)
        #expect(admitted == 100)
        #expect(try listener.open(1, from: "2001:db8:2:1::1") == 1)
    }

    /// Neighbours in a data centre have one site.
    @Test func aKeyMakesNoMoreOfASiteKnownThanItsNetwork() throws {
        let listener = Listener()
        listener.rates.note(BudgetCaller(app: self.news, .name("key")), on: try self.connection("2001:db8:1:1::1"))
        #expect(try listener.open(200, from: "2001:db8:1:2::1") == 100)
        #expect(try listener.open(200, from: "2001:db8:1:1::2") == 200)
    }

    /// All clients of a proxy on the same machine have its address.
    @Test(arguments: ["127.0.0.1", "::1", "::ffff:127.0.0.1"]) func theSameMachineHasNoRate(address: String) throws {
        #expect(try Listener().open(5000, from: address) == 5000)
    }

    /// So a key of one of them makes no others known.
    /// An app's server beside the provider finds room as others do.
    @Test(arguments: ["127.0.0.1", "::1", "10.1.0.1"]) func aNetworkWithAKeyIsKnown(address: String) throws {
        let rates = Listener().rates
        let client = try SocketAddress(ipAddress: address, port: 1)
        #expect(!rates.knows(client))
        rates.note(BudgetCaller(app: self.news, .name("key")), on: try self.connection(address))
        #expect(rates.knows(client))
    }

    @Test func aRateOf0IsNone() throws {
        let listener = Listener([.strangerConnections: BudgetLimits(.init())])
        #expect(try listener.open(5000, from: "10.0.0.1") == 5000)
    }

    /// A key makes the network of its connection known, what anybody can show does not.
    @Test func theFirstRequestWithAKeyMakesItsNetworkKnown() throws {
        let start = ContinuousClock.now
        let budgets = BudgetRegistry { start }
        let held = ConnectionLimiter(budgets, logger: silentLogger)
        func assigned(_ network: String, _ account: BudgetCaller) throws {
            let channel = try self.connection(network)
            try held.admit(channel)
            try held.assign(channel, to: account)
            for _ in 0..<101 { _ = held.rates.admits(channel.remoteAddress) }
        }
        try assigned("10.1.0.1", BudgetCaller(app: self.news, .name("key")))
        #expect(budgets[.strangerConnections].refusals.isEmpty)
        try assigned("10.1.0.2", BudgetCaller(app: self.news, .network([10, 1, 0, 2])))
        #expect(budgets[.strangerConnections].refusals.map(\.level) == [.caller])
    }

    /// Its client has reset it before it was accepted.
    @Test func aConnectionWithoutAnAddressIsRejected() { #expect(!Listener().rates.admits(nil)) }

    #if os(Linux)
    // Other systems have no further addresses of their own without a setting.
    @Test(.timeLimit(.patience)) func aListenerClosesWhatExceedsTheRate() async throws {
        let bound = BudgetLimits(.init(caller: .rate(perSecond: 0.001, burst: 2)))
        let rates = Listener([.strangerConnections: bound]).rates
        let (stream, accepted) = AsyncStream<String>.makeStream()
        var iterator = stream.makeAsyncIterator()
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                accepted.yield(channel.remoteAddress?.ipAddress ?? "")
                return channel.eventLoop.makeSucceededVoidFuture()
            }
            .bind(host: "127.0.0.1", port: 0).get()
        try await rates.limit(listener)
        let port = try #require(listener.localAddress?.port)
        var clients: [RawConnection] = []
        for _ in 0..<2 {
            clients.append(try await RawConnection.open(port: port, from: "127.0.0.2"))
            #expect(await iterator.next(isolation: nil) == "127.0.0.2")
        }
        #expect(try await RawConnection.open(port: port, from: "127.0.0.2").readToEnd().isEmpty)
        clients.append(try await RawConnection.open(port: port, from: "127.0.0.3"))
        // The one that was closed is not among those that were set up.
        #expect(await iterator.next(isolation: nil) == "127.0.0.3")
        for client in clients { await client.close() }
        try await listener.close()
    }
    #endif
}

/// The networks that have shown a key, and the time for which they are known.
@Suite struct KnownNetworksTests {
    private let news = Topic("com.example.news")
    private let weather = Topic("com.example.weather")

    private func network(_ number: Int) -> BudgetCaller.Identity {
        .network([10, UInt8(number >> 16 & 255), UInt8(number >> 8 & 255), UInt8(number & 255)])
    }

    @Test func aNetworkIsKnownForADayAfterItsLastKey() {
        var networks = KnownNetworks()
        let start = NIODeadline.uptimeNanoseconds(0)
        networks.note(self.network(1), app: self.news, now: start)
        networks.note(self.network(1), app: self.news, now: start + .hours(20))
        #expect(networks.account(of: self.network(1), now: start + .hours(43)) != nil)
        #expect(networks.account(of: self.network(1), now: start + .hours(44)) == nil)
        #expect(networks.account(of: self.network(2), now: start) == nil)
    }

    /// Else an app that uses up its own rate elsewhere would keep out who shares a network with it.
    @Test func aNetworkOfSeveralAppsCountsOnNone() {
        var networks = KnownNetworks()
        let start = NIODeadline.uptimeNanoseconds(0)
        networks.note(self.network(1), app: self.news, now: start)
        #expect(networks.account(of: self.network(1), now: start)?.app == self.news)
        networks.note(self.network(1), app: self.weather, now: start)
        networks.note(self.network(1), app: self.news, now: start)
        #expect(networks.account(of: self.network(1), now: start) == BudgetCaller(self.network(1)))
        networks.note(self.network(1), app: self.weather, now: start + .hours(25))
        #expect(networks.account(of: self.network(1), now: start + .hours(25))?.app == self.weather)
    }

    @Test func theAppWithTheMostNetworksMakesRoom() {
        var networks = KnownNetworks()
        let start = NIODeadline.uptimeNanoseconds(0)
        for number in 0..<10 { networks.note(self.network(number), app: self.weather, now: start) }
        for number in 10..<(3 * KnownNetworks.maximum) {
            networks.note(self.network(number), app: self.news, now: start + .seconds(Int64(number)))
            #expect(networks.count <= KnownNetworks.maximum)
        }
        let now = start + .seconds(Int64(3 * KnownNetworks.maximum))
        #expect((0..<10).allSatisfy { networks.account(of: self.network($0), now: now) != nil })
        #expect(networks.account(of: self.network(11), now: now) == nil)
        #expect(networks.account(of: self.network(3 * KnownNetworks.maximum - 1), now: now) != nil)
    }
}

import NIOHTTP1
import ProviderModel
import PushTesting
import Testing

@testable import PushProvider

/// Addresses that posts must not reach.
@Suite(.timeLimit(.patience)) struct WebhookPrivacyTests {
    let strict = AddressPolicy(allowsPlainHTTP: true)

    @Test(arguments: ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]", "localhost", "LOCALHOST"])
    func privateAddressesGetNothing(host: String) async throws {
        try await DeliveryFixture.run(host: host, addresses: self.strict) { fixture in
            fixture.store.addBlock(1...1)
            #expect(await fixture.postEvents() == .failed)
            #expect(fixture.receiver.connections == 0)
            #expect(fixture.record?.cursor == 0)
            #expect(fixture.record?.failures == 1)
            #expect(fixture.record?.lastError?.hasPrefix("the address is not allowed") == true)
        }
    }

    @Test(arguments: [["127.0.0.1"], ["::1"], ["::ffff:127.0.0.1"], ["10.0.0.1", "192.168.0.1", "fe80::1"]])
    func aNameThatStandsForPrivateAddressesGetsNothing(addresses: [String]) async throws {
        let resolver = ScriptedResolver(addresses)
        try await DeliveryFixture.run(host: "hook.example", addresses: self.strict, resolver: resolver) { fixture in
            fixture.store.addBlock(1...1)
            #expect(await fixture.postEvents() == .failed)
            #expect(fixture.receiver.connections == 0)
            #expect(resolver.lookUps == 1)
            #expect(fixture.record?.lastError?.hasPrefix("the address is not allowed") == true)
        }
    }

    @Test func postsGoToTheAddressThatWasChecked() async throws {
        // No other resolver knows the name: had the client asked one, nothing would arrive.
        let resolver = ScriptedResolver(["127.0.0.1"], ["10.0.0.1"])
        try await DeliveryFixture.run(host: "Hook.Example.INVALID", resolver: resolver) { fixture in
            fixture.store.addBlock(1...1)
            let filler = String(repeating: "x", count: WebhookBatch.maximumLength)
            fixture.store.addBlock(#"{"n":2,"filler":"\#(filler)"}"#)
            #expect(await fixture.postEvents() == .idle)
            #expect(fixture.receiver.numbers == [[1], [2]])
            #expect(resolver.lookUps == 1)
            #expect(
                fixture.receiver.posts.first?.headers.first(name: "host")?.hasPrefix("hook.example.invalid:") == true
            )
        }
    }

    /// A name that resolves to a public address when it is checked, and to this host when the connection is made.
    @Test func aNameThatIsReboundReachesNoPrivateAddress() async throws {
        try await withGrowingLimit { limit in
            // No host has the first address, which is public: only the limit ends the connection to it.
            let resolver = ScriptedResolver(["3ffe:ffff::1"], ["127.0.0.1"])
            var limits = WebhookLimits()
            limits.deadline = limit
            var isInTime = false
            try await DeliveryFixture.run(
                host: "rebound.example",
                addresses: self.strict,
                resolver: resolver,
                limits: limits
            ) { fixture in
                fixture.store.addBlock(1...1)
                #expect(await fixture.postEvents() == .failed)
                // The connection went to the address that was checked, without another look-up.
                #expect(resolver.lookUps <= 1 && fixture.receiver.connections == 0)
                fixture.waitForNextTry()
                // The next try looks the name up again, and checks what it finds.
                #expect(await fixture.postEvents() == .failed)
                #expect(resolver.lookUps <= 2 && fixture.receiver.connections == 0)
                isInTime = fixture.record?.lastError?.hasPrefix("the address is not allowed") == true
            }
            return isInTime && resolver.lookUps == 2
        }
    }

    @Test func theNextTryGoesToTheNextAddress() async throws {
        let resolver = ScriptedResolver(["::1", "127.0.0.1"])
        try await DeliveryFixture.run(host: "hook.example", resolver: resolver) { fixture in
            fixture.store.addBlock(1...1)
            #expect(await fixture.postEvents() == .failed)
            fixture.waitForNextTry()
            #expect(await fixture.postEvents() == .idle)
            #expect(fixture.receiver.numbers == [[1]])
        }
    }

    @Test func aNameWithoutAddressesIsAFailure() async throws {
        try await DeliveryFixture.run(host: "hook.example", resolver: ScriptedResolver([])) { fixture in
            fixture.store.addBlock(1...1)
            #expect(await fixture.postEvents() == .failed)
            #expect(fixture.record?.lastError == "no response: its name cannot be resolved: no such name")
        }
    }

    @Test func theSystemKnowsLocalhost() async throws {
        try await DeliveryFixture.run(host: "localhost") { fixture in
            fixture.store.addBlock(1...1)
            _ = await fixture.postEvents()
            // If ::1 came first, the second try went to 127.0.0.1.
            fixture.waitForNextTry()
            _ = await fixture.postEvents()
            #expect(fixture.receiver.numbers == [[1]])
        }
    }

    @Test func anIPv6LiteralWorks() async throws {
        try await ScriptedReceiver.run(host: "::1") { receiver, port in
            try await DeliveryFixture.run { fixture in
                fixture.store.change(fixture.webhook.id) { $0.url = "http://[::1]:\(port)/" }
                fixture.store.addBlock(1...1)
                #expect(await fixture.postEvents() == .idle)
                #expect(receiver.numbers == [[1]])
            }
        }
    }

    @Test func aDamagedURLIsAFailure() async throws {
        try await DeliveryFixture.run { fixture in
            fixture.store.change(fixture.webhook.id) { $0.url = "\u{0}://\\@[" }
            fixture.store.addBlock(1...1)
            #expect(await fixture.postEvents() == .failed)
            #expect(fixture.record?.lastError?.hasPrefix("the address is not allowed") == true)
        }
    }
}

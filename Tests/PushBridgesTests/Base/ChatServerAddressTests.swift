import PushBridges
import PushProvider
import PushSupport
import Testing

@Suite struct ChatServerAddressTests {
    @Test(arguments: [
        ("127.0.0.1", 6697), ("localhost", 6697), ("10.0.0.1", 6697), ("::1", 6697), ("169.254.169.254", 5222),
        ("::ffff:10.0.0.1", 5222), ("2130706433", 6697), ("irc.example.org", 25), ("irc.example.org", 80),
        ("irc.example.org", 0), ("irc.example.org", 70_000), ("irc.example.org/x", 6697), ("a@b", 6697), ("a b", 6697),
        ("[::1]", 6697), ("", 6697), ("irc.example.org:22", 6697),
    ])
    func whatAWebhookMayNotReachIsRefused(host: String, port: Int) {
        #expect(throws: RequestError.self) { try ChatServerAddress(host: host, port: port, policy: AddressPolicy()) }
    }

    @Test func publicServersAreAllowed() throws {
        let server = try ChatServerAddress(host: "IRC.Example.org", port: 6697, policy: AddressPolicy())
        #expect(server.host == "irc.example.org" && server.literal == nil)
        let address = try ChatServerAddress(host: "2606:4700::1111", port: 5223, policy: AddressPolicy())
        #expect(address.literal != nil)
        let own = try ChatServerAddress(host: "127.0.0.1", port: 6697, policy: AddressPolicy(allowsPrivate: true))
        #expect(own.port == 6697)
    }
}

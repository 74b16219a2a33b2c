import ProviderModel
import PushSupport
import Testing

@testable import PushProvider

@Suite struct WebhookAddressTests {
    @Test(arguments: [
        ("https://example.com", "https://example.com:443/"),
        ("HTTPS://Example.COM/Path?q=%20", "https://example.com:443/Path?q=%20"),
        ("https://example.com:8443?a=b", "https://example.com:8443/?a=b"),
        ("https://93.184.216.34/x", "https://93.184.216.34:443/x"),
        ("https://[2606:2800:0220:0001::1]:443/", "https://[2606:2800:220:1::1]:443/"),
    ])
    func aURLIsTaken(text: String, url: String) throws {
        #expect(try WebhookAddress(text, policy: AddressPolicy()).url == url)
    }

    @Test(arguments: [
        "", "example.com", "ftp://example.com", "https://", "https:///x", "https://user@example.com/",
        "https://user:password@example.com/", "https://example.com@127.0.0.1/", "https://example.com\\@127.0.0.1/",
        "https://example.com#@127.0.0.1/", "https://exa mple.com/", "https://example.com/a b",
        "https://bücher.example/",
        "https://example.com:0/", "https://example.com:65536/", "https://example.com:99999999/",
        "https://example.com:/",
        "https://example.com:-1/", "https://example.com:22/", "https://example.com:25/", "https://example..com/",
        "https://example.com./", "https://-/[", "https://[::1/", "https://::1/", "https://[1.2.3.4]/",
        "https://[fe80::1%25eth0]/", "https://127.1/", "https://2130706433/", "https://0x7f000001/",
        "https://0177.0.0.1/",
        "https://a.0x7f/", "https://1.2.3.4.5/", "http://example.com/", "https://localhost/", "https://x.localhost/",
        "https://example.com/\r\nhost: x", "https://" + String(repeating: "a", count: 3000),
        "https://" + String(repeating: "a", count: 64) + ".example/",
    ])
    func aBadURLIsRejected(text: String) {
        let refusal = #expect(throws: RequestError.self) { try WebhookAddress(text, policy: AddressPolicy()) }
        #expect(refusal?.kind == .invalid)
        #expect(refusal?.path == "url")
    }

    @Test(arguments: [
        "127.0.0.1", "127.255.255.255", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254",
        "0.0.0.0", "0.1.2.3", "100.64.0.1", "100.127.255.255", "198.18.0.1", "198.19.255.255", "192.0.2.1",
        "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "192.0.0.1",
        "192.88.99.1", "::", "::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1",
        "64:ff9b::a00:1",
        "64:ff9b:1::1", "fe80::1", "febf::1", "fec0::1", "fc00::1", "fdff::1", "ff02::1", "100::1", "2001::1",
        "2001:2::1", "2001:db8::1", "2002:7f00:1::1", "3fff::1", "4000::1",
    ])
    func aPrivateOrReservedAddressIsRejected(text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(!AddressPolicy().allows(address))
        #expect(AddressPolicy(allowsPrivate: true).allows(address))
        let host = text.contains(":") ? "[\(text)]" : text
        #expect(throws: RequestError.self) { try WebhookAddress("https://\(host)/", policy: AddressPolicy()) }
        #expect(throws: Never.self) {
            try WebhookAddress("http://\(host)/", policy: AddressPolicy(allowsPrivate: true))
        }
    }

    @Test(arguments: [
        "8.8.8.8", "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.1",
        "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0",
        "223.255.255.255", "2606:4700::1", "2a00:1450::1", "2001:200::1", "2001:4860::1",
    ])
    func aPublicAddressIsAllowed(text: String) throws {
        #expect(AddressPolicy().allows(try #require(IPAddress(text))))
    }

    @Test func httpIsAllowedOnRequest() {
        #expect(throws: Never.self) {
            try WebhookAddress("http://example.com/", policy: AddressPolicy(allowsPlainHTTP: true))
        }
        #expect(throws: RequestError.self) {
            try WebhookAddress("http://127.0.0.1/", policy: AddressPolicy(allowsPlainHTTP: true))
        }
    }

    @Test(arguments: ["", "1", "1.2.3", "1.2.3.4 ", "01.2.3.4", "256.1.1.1", "::g", "1::2::3", "::1%lo"])
    func whatIsNoAddress(text: String) {
        #expect(IPAddress(text) == nil)
    }
}

import Foundation
import Testing

@testable import MartletKit

@Suite("URLs of attachments") struct AttachmentURLTests {
    private func failure(_ text: String, allowsLocalServers: Bool = false) -> AttachmentError? {
        do throws(AttachmentError) {
            _ = try AttachmentURL(text, allowsLocalServers: allowsLocalServers)
            return nil
        } catch { return error }
    }

    @Test(
        "Public https URLs are taken as they are",
        arguments: [
            "https://example.com/a.jpg", "HTTPS://Example.COM", "https://cdn.example.com:8443/x?y=%20&z=/@:#f",
            "https://93.184.216.34/a", "https://[2606:2800:220:1:248:1893:25c8:1946]/a", "https://a_b.example.com/",
            "https://example.com./a", "https://[64:ff9b::5db8:d822]/", "https://xn--mller-kva.example/",
        ]
    )
    func allowed(text: String) throws {
        #expect(try AttachmentURL(text).url.absoluteString.lowercased() == text.lowercased())
    }

    @Test(
        "Other schemes are refused",
        arguments: [
            "http://example.com/", "file:///etc/passwd", "ftp://example.com/", "data:image/png;base64,AAAA",
            "javascript:1",
            "example.com/a", "/a", "//example.com/a", "", "https:/example.com", "https:example.com",
            "httpss://example.com",
        ]
    )
    func schemes(text: String) {
        #expect(self.failure(text) == .notHTTPS)
    }

    @Test(
        "Forms that two parsers could read differently are refused",
        arguments: [
            "https://", "https:///etc", "https://?x", "https://user@example.com/", "https://user:secret@example.com/",
            "https://example.com@127.0.0.1/", "https://example.com\\@127.0.0.1/", "https://exa mple.com/",
            "https://example.com:0/", "https://example.com:65536/", "https://example.com:/", "https://example.com:x/",
            "https://example.com:80:80/", "https://exämple.com/", "https://example.com/\u{0}", "https://example.com/\n",
            "https://%6c%6fcalhost/", "https://127.1/", "https://2130706433/", "https://0x7f000001/",
            "https://0x7f.0.0.1/",
            "https://017700000001/", "https://127.0.0.01/", "https://1.2.3.4.5/", "https://256.1.1.1/",
            "https://1.2.3.4./",
            "https://[::1/", "https://[::1%25lo]/", "https://[::g]/", "https://[1::2::3]/", "https://[]/",
            "https://[::1]x/",
            "https://a..b/", "https://.example.com/", "https://example.com../", "https://exa\u{301}mple.com/",
            "https://example.com/%2", "https://example.com/?x=%zz", "https://example.com/[",
            "https://example.com/?a#b#c",
        ]
    )
    func malformed(text: String) {
        #expect(self.failure(text) == .malformedURL)
    }

    @Test("A long URL is refused")
    func long() {
        #expect(self.failure("https://example.com/" + String(repeating: "a", count: 2048)) == .malformedURL)
        #expect(self.failure("https://\(String(repeating: "a", count: 64)).com/") == .malformedURL)
    }

    @Test(
        "The device itself and private networks are refused, unless a policy allows them",
        arguments: [
            "https://localhost/", "https://LOCALHOST./", "https://router/", "https://printer.local/",
            "https://a.internal/",
            "https://127.0.0.1/", "https://10.0.0.1/", "https://172.16.0.1/", "https://172.31.255.255/",
            "https://192.168.1.1/", "https://169.254.169.254/latest", "https://100.64.0.1/", "https://0.0.0.0/",
            "https://224.0.0.1/", "https://255.255.255.255/", "https://198.18.0.1/", "https://192.0.2.1/",
            "https://[::1]/", "https://[::]/", "https://[fe80::1]/", "https://[fd00::1]/", "https://[ff02::1]/",
            "https://[::ffff:127.0.0.1]/", "https://[::ffff:93.184.216.34]/", "https://[64:ff9b::7f00:1]/",
            "https://[2002:7f00:1::]/", "https://[2001:db8::1]/", "https://[::7f00:1]/",
        ]
    )
    func local(text: String) {
        #expect(self.failure(text) == .localAddress)
        #expect(self.failure(text, allowsLocalServers: true) == nil)
    }

    @Test("Neighbours of private networks are public")
    func boundaries() {
        for address in ["172.15.255.255", "172.32.0.0", "100.63.255.255", "100.128.0.0", "11.0.0.0", "223.255.255.255"]
        {
            #expect(self.failure("https://\(address)/") == nil)
        }
    }

    @Test("Plain http is for local development only")
    func plain() {
        #expect(self.failure("http://127.0.0.1:8080/a", allowsLocalServers: true) == nil)
        #expect(self.failure("ftp://127.0.0.1/a", allowsLocalServers: true) == .notHTTPS)
    }
}

import Crypto
import Foundation
import ProviderModel
import PushProvider
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushBridges

@Suite struct PublishContentTests {
    private func bridge(_ settings: [String: JSONValue] = [:]) throws -> ConfiguredComponent {
        try ConfiguredComponent.testing(settings.merging(["host": "127.0.0.1"]) { given, _ in given })
    }

    private func node(account: String? = nil, owner: XMPPNodeRecord.Owner = .installation("phone-1")) -> XMPPNodeRecord
    {
        XMPPNodeRecord(
            node: "n-A",
            app: 1,
            component: "push.example.org",
            secretHash: Data(SHA256.hash(data: Data("s-A".utf8))),
            owner: owner,
            domain: "example.com",
            account: account,
            createdAt: Vectors.issuedAt
        )
    }

    private func request(
        _ content: PublishContent,
        tokens: [DeviceToken] = [.numbered(1)],
        delay: Duration = .zero
    ) throws -> NotificationRequest {
        try content.request(tokens: tokens, delay: delay, now: Vectors.issuedAt)
    }

    /// Vector X2.
    @Test func anImportantPublishIsAnAlert() throws {
        let request = try self.request(PublishContent(bridge: self.bridge(), node: self.node(), isImportant: true))
        let payload = #"{"aps":{"alert":{"title":"New message"},"mutable-content":1,"sound":"default"}}"#
        #expect(try JSONValue(parsing: request.content.payload) == JSONValue(parsing: Data(payload.utf8)))
        #expect(request.content.payload.count == 79)
        #expect(request.content.pushType == .alert)
        #expect(request.content.priority == .immediate)
        #expect(request.content.expiresIn == 604_800)
        #expect(request.audience == .devices(.token(.numbered(1))))
        #expect(request.lane == .urgent)
        #expect(request.delivery == nil)
    }

    /// Vector X3.
    @Test func anotherPublishWakesTheApp() throws {
        let request = try self.request(PublishContent(bridge: self.bridge(), node: self.node(), isImportant: false))
        #expect(String(decoding: request.content.payload, as: UTF8.self) == #"{"aps":{"content-available":1}}"#)
        #expect(request.content.pushType == .background)
        #expect(request.content.expiresIn == 3600)
    }

    @Test func theSettingsDecideAboutTheTexts() throws {
        let settings: [String: JSONValue] = [
            "title": "Neu", "body": "Öffne die App", "sound": "ping.caf", "accountMember": "konto",
            "consentCategory": "chat",
        ]
        let bridge = try self.bridge(settings)
        let request = try self.request(
            PublishContent(bridge: bridge, node: self.node(account: "work"), isImportant: true)
        )
        let expected: JSONValue = [
            "aps": [
                "alert": ["title": "Neu", "body": "Öffne die App"], "sound": "ping.caf", "mutable-content": 1,
            ],
            "konto": "work",
        ]
        #expect(try JSONValue(parsing: request.content.payload) == expected)
        #expect(request.consent.category == "chat")
    }

    @Test func theAudienceIsTheOwner() throws {
        let content = PublishContent(bridge: try self.bridge(), node: self.node(owner: .user("ada")), isImportant: true)
        #expect(try self.request(content).audience == .devices(.user("ada")))
        let several = PublishContent(bridge: try self.bridge(), node: self.node(), isImportant: true)
        let audience = try self.request(several, tokens: [.numbered(1), .numbered(2)]).audience
        #expect(audience == .devices(.or([.token(.numbered(1)), .token(.numbered(2))])))
    }

    @Test func aPushOfTheEndOfAnIntervalIsSentThen() throws {
        let content = PublishContent(bridge: try self.bridge(), node: self.node(), isImportant: true)
        let request = try self.request(content, delay: .seconds(20))
        #expect(request.delivery?.beginning == .at(Vectors.issuedAt.advanced(by: .seconds(20))))
    }

    // MARK: Judgement

    private func judge(_ secret: String, from sender: String, _ node: XMPPNodeRecord?) throws -> PublishAuthorization {
        let publish = PushPublish(node: "n-A", secret: secret)
        return PublishAuthorization(publish, from: try #require(JabberAddress(sender)), over: try self.bridge(), node)
    }

    /// Vector X5.
    @Test func theSecretAndTheDomainAreChecked() throws {
        let node = self.node()
        #expect(try self.judge("s-A", from: "example.com", node) == .allowed(node))
        #expect(try self.judge("s-A", from: "EXAMPLE.com", node) == .allowed(node))
        #expect(try self.judge("s-B", from: "example.com", node) == .refused(.forbidden))
        #expect(try self.judge("", from: "example.com", node) == .refused(.forbidden))
        #expect(try self.judge("s-A", from: "evil.example", node) == .refused(.forbidden))
        #expect(try self.judge("s-A", from: "example.com.evil.example", node) == .refused(.forbidden))
    }

    @Test func aNodeIsAtItsComponentOnly() throws {
        #expect(try self.judge("s-A", from: "example.com", nil) == .refused(.itemNotFound))
        var other = self.node()
        other.app = 2
        #expect(try self.judge("s-A", from: "example.com", other) == .refused(.itemNotFound))
        other = self.node()
        other.component = "push.example.net"
        #expect(try self.judge("s-A", from: "example.com", other) == .refused(.itemNotFound))
    }

    // MARK: Settings

    @Test func whatCannotBeUsedIsRefused() throws {
        for settings in [
            ["host": ""], ["port": 0], ["tls": "starttls"], ["trust": "x"], ["accountMember": "aps"],
            ["registration": ["p3"]], ["registration": "p2"], ["title": 1], ["odd": 1],
        ] as [[String: JSONValue]] {
            #expect(throws: RequestError.self, "\(settings)") { try self.bridge(settings) }
        }
        for name in ["", "Push.example.org", "a@b", "a/b", "a'b"] {
            #expect(throws: RequestError.self, "\(name)") { try ComponentSettings.check(name: name) }
        }
    }

    @Test func onlyTheOwnHostNeedsNoTLS() throws {
        for host in ["localhost", "127.0.0.1", "::1"] {
            #expect(try self.bridge(["host": .string(host)]).settings.security == .none)
        }
        for host in ["xmpp.example.com", "10.0.0.1", "127.example.com"] {
            #expect(try self.bridge(["host": .string(host)]).settings.security == .direct)
        }
        #expect(try self.bridge(["host": "10.0.0.1", "tls": "none"]).settings.security == .none)
    }
}

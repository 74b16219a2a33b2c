import Dispatch
import Foundation
import NIOHTTP1
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// Questions over HTTP, and the servers that answer them badly.
@Suite(.timeLimit(.patience)) struct PublisherClientTests {
    private static func client(
        _ policy: AddressPolicy = AddressPolicy(allowsPrivate: true),
        resolver: any NameResolver = SystemResolver(BudgetRegistry()),
        deadline: Duration = .patience
    ) -> PublisherClient {
        let client = RestrictedHTTPClient(addresses: policy, resolver: resolver, source: .settings, deadline: deadline)
        return PublisherClient(client: client, time: ManualTime())
    }

    private static func server(
        _ url: String,
        _ form: EntitlementServerRecord.Form = .json
    ) -> EntitlementServerRecord {
        EntitlementServerRecord(app: 1, url: url, form: form, secret: "shared-secret-text", changedAt: ManualTime().now)
    }

    private static func question(token: String? = "to/ken+1") throws -> PublisherRequest {
        let app = try #require(Topic(Vectors.bundleID))
        return PublisherRequest(app: app, account: "alice & bob", token: token, products: ["a", "b\"c"])
    }

    private static func response(_ body: String, status: Int = 200, headers: String = "") -> ScriptedReceiver.Response {
        .bytes("HTTP/1.1 \(status) Status\r\ncontent-length: \(body.utf8.count)\r\n\(headers)\r\n\(body)")
    }

    private func ask(
        _ url: String,
        _ form: EntitlementServerRecord.Form = .json,
        with client: PublisherClient = Self.client()
    ) async throws -> Result<PublisherResponse, PublisherFailure> {
        let question = try Self.question()
        do throws(PublisherFailure) {
            return .success(try await client.ask(question, Self.server(url, form)))
        } catch {
            return .failure(error)
        }
    }

    @Test func aJSONQuestionIsSigned() async throws {
        try await ScriptedReceiver.run { receiver, port in
            receiver.script(Self.response(#"{"entitled":["a"]}"#))
            #expect(try await self.ask("http://127.0.0.1:\(port)/check?tenant=1") == .success(.entitled(["a"])))
            let post = try #require(receiver.posts.first)
            #expect(post.method == .POST && post.target == "/check?tenant=1")
            #expect(
                String(decoding: post.body, as: UTF8.self)
                    == #"{"app":"\#(Vectors.bundleID)","account":"alice & bob","authToken":"to/ken+1","productIds":["a","b\"c"]}"#
            )
            let signature = WebhookSignature.make(of: post.body, secrets: ["shared-secret-text"], at: ManualTime().now)
            #expect(post.headers.first(name: WebhookSignature.header) == signature)
        }
    }

    @Test(arguments: [
        ("", "/entitlements?"), ("/", "/entitlements?"), ("/api/", "/api/entitlements?"),
        ("/a?k=v", "/a/entitlements?k=v&"),
    ])
    func anXMLQuestionIsAGet(path: String, target: String) async throws {
        try await ScriptedReceiver.run { receiver, port in
            let body = "<result httpResponseCode='200'><entitlements><productId>a</productId></entitlements></result>"
            receiver.script(Self.response(body))
            #expect(try await self.ask("http://127.0.0.1:\(port)\(path)", .xml) == .success(.entitled(["a"])))
            let get = try #require(receiver.posts.first)
            let items = "authToken=to%2Fken%2B1&appId=\(Vectors.bundleID)&accountId=alice%20%26%20bob"
            #expect(get.method == .GET && get.target == target + items && get.body.isEmpty)
            let signature = WebhookSignature.make(
                of: Data(get.target.utf8),
                secrets: ["shared-secret-text"],
                at: ManualTime().now
            )
            #expect(get.headers.first(name: WebhookSignature.header) == signature)
        }
    }

    @Test(arguments: [408, 500, 502, 503]) func anErrorIsAFailure(status: Int) async throws {
        try await ScriptedReceiver.run { receiver, port in
            receiver.script(.status(status))
            let answer = try await self.ask("http://127.0.0.1:\(port)/")
            #expect(answer == .failure(.status(status)))
        }
    }

    /// A redirect could lead into the provider's own network.
    @Test func aRedirectIsNotFollowed() async throws {
        try await ScriptedReceiver.run { receiver, port in
            receiver.script(.status(302, headers: "location: http://127.0.0.1:\(port)/secret\r\n"))
            let answer = try await self.ask("http://127.0.0.1:\(port)/")
            #expect(answer == .failure(.status(302)))
            #expect(receiver.posts.count == 1)
        }
    }

    @Test(arguments: [true, false]) func aHugeAnswerIsAFailure(isAnnounced: Bool) async throws {
        try await ScriptedReceiver.run { receiver, port in
            let body = String(repeating: "x", count: PublisherResponse.maximumLength + 1)
            let head = isAnnounced ? "content-length: \(body.utf8.count)\r\n" : ""
            receiver.script(.bytes("HTTP/1.1 200 OK\r\n\(head)\r\n\(body)"))
            let answer = try await self.ask("http://127.0.0.1:\(port)/")
            #expect(answer == .failure(.tooLong))
        }
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"entitled\":"])
    func aServerThatStopsIsTooSlow(text: String) async throws {
        try await ScriptedReceiver.run { receiver, port in
            receiver.script(.unfinished(text))
            let client = Self.client(deadline: .milliseconds(100))
            guard case .failure(.noResponse) = try await self.ask("http://127.0.0.1:\(port)/", with: client) else {
                Issue.record("an answer")
                return
            }
        }
    }

    /// The time is over before the look-up of its name has begun.
    @Test func aServerWhoseNameHasNoTurnIsNotAsked() async throws {
        let limits = BudgetLimits(.init(whole: .held(1)), waiting: .init(caller: 100), patience: .patience)
        let budgets = BudgetRegistry([.nameLookups: limits, .newNameLookups: limits])
        let end = DispatchSemaphore(value: 0)
        let resolver = SystemResolver(budgets) { _ in
            end.wait()
            return [IPAddress("192.0.2.1")].compactMap { $0 }
        }
        let hole = Task { try await resolver.addresses(of: "hole", for: 1, givenBy: .settings, within: .patience) }
        try await eventually { budgets[.nameLookups].usage.held > 0 }
        let client = Self.client(resolver: resolver, deadline: .milliseconds(1))
        let answer = try await self.ask("http://publisher.example.invalid/", with: client)
        end.signal()
        #expect(try await hole.value.count == 1)
        guard case .failure(.notAsked) = answer else {
            Issue.record("\(answer)")
            return
        }
    }

    @Test(arguments: ["HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{", "garbage\r\n\r\n", ""])
    func aServerThatHangsUpIsAFailure(text: String) async throws {
        try await ScriptedReceiver.run { receiver, port in
            receiver.script(.bytes(text))
            guard case .failure(.noResponse) = try await self.ask("http://127.0.0.1:\(port)/") else {
                Issue.record("an answer")
                return
            }
        }
    }

    @Test func wrongXMLIsAFailure() async throws {
        try await ScriptedReceiver.run { receiver, port in
            receiver.script(Self.response("<!DOCTYPE a [<!ENTITY b 'c'>]><result>&b;</result>"))
            let failure = PublisherFailure.malformed(reason: "document types and entities are not allowed")
            let answer = try await self.ask("http://127.0.0.1:\(port)/", .xml)
            #expect(answer == .failure(failure))
        }
    }

    @Test(arguments: ["127.0.0.1", "[::1]", "localhost", "publisher.example"])
    func privateAddressesAreNotAsked(host: String) async throws {
        try await ScriptedReceiver.run { receiver, port in
            let client = Self.client(AddressPolicy(allowsPlainHTTP: true), resolver: ScriptedResolver(["127.0.0.1"]))
            guard case .failure(.addressNotAllowed) = try await self.ask("http://\(host):\(port)/", with: client) else {
                Issue.record("asked")
                return
            }
            #expect(receiver.connections == 0)
        }
    }

    @Test func theAddressThatWasCheckedIsAsked() async throws {
        try await ScriptedReceiver.run { receiver, port in
            receiver.script(Self.response(#"{"entitled":[]}"#))
            let client = Self.client(resolver: ScriptedResolver(["127.0.0.1"], ["10.0.0.1"]))
            let answer = try await self.ask("http://publisher.example.invalid:\(port)/", with: client)
            #expect(answer == .success(.entitled([])))
        }
    }

    @Test(arguments: EntitlementServerRecord.Form.allCases)
    func anExchangeShowsNoSecret(form: EntitlementServerRecord.Form) async throws {
        try await ScriptedReceiver.run { receiver, port in
            let echo = "no to/ken+1, to%2Fken%2B1 nor shared-secret-text \u{7}here\n"
            receiver.script(Self.response(echo + String(repeating: "x", count: 10_000), status: 500))
            let exchange = await Self.client()
                .exchange(try Self.question(), Self.server("http://127.0.0.1:\(port)/", form))
            #expect(exchange.status == 500 && exchange.products == nil)
            #expect(exchange.error == "the server responded with status 500")
            #expect(exchange.response?.hasPrefix("no redacted, redacted nor redacted here\n") == true)
            #expect(exchange.response?.unicodeScalars.count == PublisherExchange.maximumShown)
            let shown = "\(exchange)"
            for secret in ["to/ken+1", "to%2Fken%2B1", "shared-secret-text"] { #expect(!shown.contains(secret)) }
            #expect((exchange.request ?? exchange.url).contains("redacted"))
        }
    }

    @Test func anExchangeShowsTheAnswer() async throws {
        try await ScriptedReceiver.run { receiver, port in
            receiver.script(Self.response(#"{"entitled":["b","a"]}"#))
            let exchange = await Self.client()
                .exchange(try Self.question(token: nil), Self.server("http://127.0.0.1:\(port)/x"))
            #expect(exchange.products == ["a", "b"] && exchange.error == nil && exchange.status == 200)
            #expect(exchange.method == "POST" && exchange.url == "http://127.0.0.1:\(port)/x")
            receiver.script(.status(401))
            let refused = await Self.client()
                .exchange(try Self.question(), Self.server("http://127.0.0.1:\(port)/x"))
            #expect(refused.products == nil && refused.error?.contains("sign in") == true)
        }
    }
}

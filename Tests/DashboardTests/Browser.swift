import AsyncHTTPClient
import Dashboard
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import ProviderAPI
import PushSender
import PushSupport
import PushTesting
import Synchronization
import Testing

/// A browser without a window: it keeps cookies, follows redirects and posts forms with their hidden fields.
final class Browser: Sendable {
    struct Page: Sendable {
        var status: Int
        var headers: HTTPHeaders
        var text: String
        /// The path of the page, after all redirects.
        var path: String

        /// The token of the page's forms.
        var csrf: String? {
            self.text.firstMatch(of: #/name="csrf" value="([^"]+)"/#).map { String($0.1) }
        }
    }

    let origin: String
    private let client = HTTPClient(
        eventLoopGroupProvider: .singleton,
        configuration: .init(redirectConfiguration: .disallow, timeout: .patience)
    )
    private let cookies = Mutex<[String: String]>([:])

    init(origin: String) {
        self.origin = origin
    }

    var cookie: String? {
        get { self.cookies.withLock { $0["martlet"] } }
    }

    func setCookie(_ value: String?) { self.cookies.withLock { $0["martlet"] = value } }

    func end() async throws { try await self.client.shutdown() }

    func get(_ path: String) async throws -> Page { try await self.request("GET", path, nil) }

    /// Posts a form with the token of a page, unless `fields` has one.
    func post(_ path: String, _ fields: [String: String], from page: Page? = nil, headers: HTTPHeaders = [:])
        async throws -> Page
    {
        var fields = fields
        if let token = page?.csrf, fields["csrf"] == nil { fields["csrf"] = token }
        let body = fields.map { "\(Self.encoded($0.key))=\(Self.encoded($0.value))" }.joined(separator: "&")
        return try await self.request("POST", path, body, headers: headers)
    }

    /// Signs in with an API key.
    func signIn(key: String) async throws -> Page { try await self.post("/dashboard/sign-in", ["key": key]) }

    func request(_ method: String, _ path: String, _ body: String?, headers: HTTPHeaders = [:]) async throws -> Page {
        var (method, path, body) = (method, path, body)
        for _ in 0..<5 {
            let page = try await self.send(method, path, body, headers: headers)
            guard page.status == 303, let location = page.headers.first(name: "location") else { return page }
            (method, path, body) = ("GET", location, nil)
        }
        Issue.record("too many redirects from \(path)")
        return Page(status: 0, headers: [:], text: "", path: path)
    }

    /// Sends one request, and follows nothing.
    func send(_ method: String, _ path: String, _ body: String?, headers: HTTPHeaders = [:]) async throws -> Page {
        var request = HTTPClientRequest(url: self.origin + path)
        request.method = HTTPMethod(rawValue: method)
        request.headers = headers
        let cookie = self.cookies.withLock { $0.map { "\($0.key)=\($0.value)" }.joined(separator: "; ") }
        if !cookie.isEmpty { request.headers.add(name: "cookie", value: cookie) }
        if let body {
            if !request.headers.contains(name: "content-type") {
                request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
            }
            request.body = .bytes(ByteBuffer(string: body))
        }
        let response = try await self.client.execute(request, timeout: .patience)
        let text = String(buffer: try await response.body.collect(upTo: 16 * 1024 * 1024))
        for field in response.headers["set-cookie"] {
            let pair = field.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map(String.init)
            self.cookies.withLock { $0[pair[0]] = pair.count > 1 && !pair[1].isEmpty ? pair[1] : nil }
        }
        return Page(status: Int(response.status.code), headers: response.headers, text: text, path: path)
    }

    /// Opens the stream of a live part.
    func events(_ path: String) async throws -> HTTPClientResponse.Body {
        var request = HTTPClientRequest(url: self.origin + path)
        request.headers = ["accept": "text/event-stream"]
        let cookie = self.cookies.withLock { $0.map { "\($0.key)=\($0.value)" }.joined(separator: "; ") }
        request.headers.add(name: "cookie", value: cookie)
        return try await self.client.execute(request, timeout: .patience).body
    }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}

/// Runs a provider with its dashboard, and a browser.
func withDashboard(
    senders: ScriptedSender = ScriptedSender(),
    time: any TimeSource = SystemTime(),
    configure: (inout ProviderConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (RunningProvider, Browser) async throws -> Void
) async throws {
    try await withProvider(
        senders: senders,
        time: time,
        pages: { try Dashboard($0) },
        configure: configure
    ) { provider in
        let browser = Browser(origin: provider.api.baseURL)
        do {
            try await body(provider, browser)
        } catch {
            try await browser.end()
            throw error
        }
        try await browser.end()
    }
}

extension Browser {
    /// Text that no browser may take for the beginning of an element.
    static let markup = "\u{600}<script>alert(1)</script>"

    /// Signs in with a key of some scopes.
    func signIn(_ scopes: String..., at provider: RunningProvider) async throws {
        let body: JSONValue = .object(["name": "lesser", "scopes": .array(scopes.map(JSONValue.string))])
        let key = try await provider.api.post("/v1/keys", body)
        self.setCookie(nil)
        _ = try await self.signIn(key: try #require(key.json["key"].stringValue))
    }

    /// Signs in with the first key, which may do everything.
    func signInAsAdmin(at provider: RunningProvider) async throws {
        _ = try await self.signIn(key: try #require(provider.api.apiKey))
    }

    /// Posts a form with a file.
    func upload(
        _ path: String,
        _ fields: [String: String],
        file: (name: String, content: String),
        from page: Page
    ) async throws -> Page {
        let boundary = "martlet-boundary"
        var body = ""
        for (name, value) in fields.merging(["csrf": page.csrf ?? ""], uniquingKeysWith: { $1 }) {
            body += "--\(boundary)\r\ncontent-disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
        }
        body += "--\(boundary)\r\ncontent-disposition: form-data; name=\"file\"; filename=\"\(file.name)\"\r\n"
        body += "content-type: application/octet-stream\r\n\r\n\(file.content)\r\n--\(boundary)--\r\n"
        return try await self.request(
            "POST",
            path,
            body,
            headers: ["content-type": "multipart/form-data; boundary=\(boundary)"]
        )
    }
}

extension Browser.Page {
    /// Returns the value of the first hidden field with a name.
    func hidden(_ name: String) -> String? {
        guard let start = self.text.range(of: "name=\"\(name)\" value=\"") else { return nil }
        let entities = [("&quot;", "\""), ("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")]
        return entities.reduce(String(self.text[start.upperBound...].prefix { $0 != "\"" })) {
            $0.replacingOccurrences(of: $1.0, with: $1.1)
        }
    }

    /// Indicates whether the bytes of a text are in the page. To Swift a `<` after some scalars is part of another character.
    func contains(_ text: String) -> Bool { Array(self.text.utf8).firstRange(of: Array(text.utf8)) != nil }

    /// Indicates whether markup that people have written would be executed.
    var hasMarkup: Bool { self.contains("<script>alert") }
}

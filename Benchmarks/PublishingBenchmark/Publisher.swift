import Benchmarking
import Crypto
import Foundation
import MartletKit

/// A publisher at a provider's API.
struct Publisher: Sendable {
    static let app = "com.example.MyApp"
    private static let teamID = "DEF123GHIJ", keyID = "ABC123DEFG"

    let base: String
    let apiKey: String
    let transport: any DownloadTransport

    /// Sends a request, or throws ``BenchmarkFailure`` for a status other than 2xx.
    @discardableResult
    private func send(
        _ method: String,
        _ path: String,
        _ body: JSONValue? = nil,
        content: Data? = nil
    ) async throws -> [String: JSONValue] {
        guard let url = URL(string: "\(self.base)/v1/\(path)") else { throw BenchmarkFailure("\(path) is no path") }
        var headers = ["authorization": "Bearer \(self.apiKey)"]
        if body != nil { headers["content-type"] = "application/json" }
        if content != nil {
            (headers["content-type"], headers["upload-offset"]) = ("application/partial-upload", "0")
        }
        let request = TransportRequest(
            method: method,
            url: url,
            headers: headers,
            body: body?.json ?? content ?? Data(),
            deadline: .seconds(120)
        )
        let response = try await self.transport.send(request)
        guard (200..<300).contains(response.status) else {
            let text = String(decoding: response.body.prefix(300), as: UTF8.self)
            throw BenchmarkFailure("\(method) \(path): \(response.status) \(text)")
        }
        return JSONValue(json: response.body)?.object ?? [:]
    }

    /// Adds the app with its credential.
    /// - Returns: A public key for its readers.
    func addApp(key: String) async throws -> String {
        try await self.send("POST", "apps", .object(["bundleId": .string(Self.app)]))
        try await self.send(
            "PUT",
            "apps/\(Self.app)/credentials/production",
            .object([
                "teamId": .string(Self.teamID), "keyId": .string(Self.keyID), "privateKey": .string(key),
            ])
        )
        let answer = try await self.send(
            "POST",
            "keys",
            .object(["name": "readers", "scopes": .array(["registerSelf"]), "apps": .array([.string(Self.app)])])
        )
        guard let text = answer["key"]?.string else { throw BenchmarkFailure("the provider's answer has no key") }
        return text
    }

    /// Adds a publication whose waves wait for the downloads.
    /// - Parameters:
    ///   - wave: The devices of a wave.
    ///   - limit: The bandwidth limit of the provider.
    func addPublication(wave: Int, limit: Double) async throws -> String {
        let steering: JSONValue = .object(["maximumBandwidth": .integer(Int64(limit * 0.9)), "maximumDownloads": 400])
        let waves: JSONValue = .object([
            "size": .integer(Int64(wave)), "intervalSeconds": 1, "steering": steering,
        ])
        let answer = try await self.send(
            "POST",
            "apps/\(Self.app)/publications",
            .object(["name": "The Example", "waves": waves])
        )
        guard let id = answer["id"]?.string else { throw BenchmarkFailure("the provider's answer has no publication") }
        return id
    }

    /// Publishes an issue with a file of pseudorandom bytes.
    func publish(_ product: String, date: String, size: Int, _ publication: String) async throws -> String {
        let answer = try await self.send(
            "POST",
            "publications/\(publication)/issues",
            .object(["productId": .string(product), "title": .string(product), "date": .string(date)])
        )
        guard let id = answer["id"]?.string else { throw BenchmarkFailure("the provider's answer has no issue") }
        let content = Data((0..<size).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) })
        let hash = SHA256.hash(data: content).map { String(format: "%02x", $0) }.joined()
        let upload = try await self.send(
            "POST",
            "apps/\(Self.app)/uploads",
            .object([
                "size": .integer(Int64(size)), "sha256": .string(hash), "contentType": "application/zip",
                "name": "issue",
            ])
        )
        if let upload = upload["id"]?.string { try await self.send("PATCH", "uploads/\(upload)", content: content) }
        try await self.send("PUT", "issues/\(id)/renditions/2048x1536", .object(["file": .string(hash)]))
        try await self.send("POST", "issues/\(id):publish")
        return id
    }

    /// Presses *Notify*.
    /// - Returns: The id of the notification.
    func notify(_ issue: String) async throws -> String {
        guard let id = try await self.send("POST", "issues/\(issue):notify")["id"]?.string else {
            throw BenchmarkFailure("the provider's answer has no notification")
        }
        return id
    }

    /// Sends a notification that names no issue to all devices.
    /// - Returns: The id of the notification.
    func notifyAll(_ text: String) async throws -> String {
        let body: JSONValue = .object([
            "to": .object(["all": .bool(true)]), "environment": "production", "alert": .string(text),
        ])
        guard let id = try await self.send("POST", "apps/\(Self.app)/notifications", body)["id"]?.string else {
            throw BenchmarkFailure("the provider's answer has no notification")
        }
        return id
    }

    /// Returns the bytes of files that the provider has sent since its start.
    func bytesSent() async throws -> Double {
        guard let url = URL(string: "\(self.base)/metrics") else { throw BenchmarkFailure("\(self.base) is no URL") }
        var request = TransportRequest(method: "GET", url: url, headers: ["authorization": "Bearer \(self.apiKey)"])
        request.maximumResponse = 4_000_000
        let response = try await self.transport.send(request)
        guard response.status == 200 else { throw BenchmarkFailure("the metrics have the status \(response.status)") }
        return MetricsText(String(decoding: response.body, as: UTF8.self)).sum(of: "martlet_download_bytes_total")
    }

    /// Waits for the end of a notification, and returns the seconds that it took.
    func seconds(ofNotification id: String) async throws -> Double {
        while true {
            let answer = try await self.send("GET", "notifications/\(id)")
            if let end = answer["finishedAtMs"]?.integer, let start = answer["createdAtMs"]?.integer {
                return Double(max(1, end - start)) / 1000
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}

import Foundation
import Testing

@testable import MartletKit

/// The responses of a provider as the client of the app reads them.
enum Samples {
    static let publication = "3F0E0000-0000-4000-8000-000000000001"

    /// Returns the hash that consists of one digit.
    static func hash(_ digit: Character) -> String { String(repeating: digit, count: 64) }

    private static func members(_ json: String) throws -> [String: JSONValue] {
        try #require(JSONValue(json: Data(json.utf8))?.object)
    }

    private static func base() throws -> URL { try #require(URL(string: "http://127.0.0.1:8080")) }

    /// Returns the catalogue of some products, the newest first.
    static func catalogue(
        _ products: [String],
        cover: Bool = false,
        tag: String = "\"1\"",
        publications: [String: String] = [:],
        next: String? = nil
    ) throws -> IssueCatalogue {
        let hash = Self.hash("c")
        let cover =
            cover ? #","cover":{"url":"/v1/files/c","size":3,"sha256":"\#(hash)","contentType":"image/png"}"# : ""
        let entries = products.enumerated().map { index, product in
            """
            {"productId":"\(product)","publication":"\(publications[product] ?? Self.publication)",
            "publicationName":"The Example","title":"Title \(product)","number":"\(products.count - index)",
            "date":"2026-11-\(28 - index)","access":"free","renditions":[]\(cover)}
            """
        }
        var members = try Self.members("{\"issues\":[\(entries.joined(separator: ","))]}")
        members["next"] = next.map { .string($0) }
        return try IssueCatalogue(members, entityTag: tag, base: try Self.base())
    }

    /// Returns the decision about a product.
    static func entitlement(_ product: String, _ json: String) throws -> IssueEntitlement {
        let members = try Self.members("{\"productId\":\"\(product)\",\(json)}")
        return try #require(IssueEntitlement(.object(members)))
    }

    /// Returns the address of an issue's file.
    static func grant(_ product: String, hash: Character = "a", size: Int = 1000) throws -> DownloadGrant {
        let json = """
            {"productId":"\(product)","url":"/v1/files/\(hash)?issue=1","size":\(size),"sha256":"\(Self.hash(hash))",
            "contentType":"application/zip","screenSize":"2048x1536","match":"exact","entitledBy":"free"}
            """
        let (members, base) = (try Self.members(json), try Self.base())
        return try #require(DownloadGrant(members, base: base))
    }
}

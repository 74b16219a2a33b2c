import Foundation
import ProviderModel
import PushSupport

enum PublisherResponse: Hashable, Sendable {
    /// The ids of the products to which the account is entitled.
    case entitled(Set<String>)
    /// The response that the account must sign in again: the server does not know it, or its token has expired.
    case accountRefused
    /// The refusal of this request, with a status from 400 to 499. The account is entitled to no requested product.
    case questionRefused(status: Int)
}

enum PublisherFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// A request without a response, or without a connection.
    case noResponse(reason: String)
    /// A request that was not sent, for a reason within the provider. It says nothing about the server.
    case notAsked(reason: String)
    /// A URL that the policy does not allow, or whose host name has no allowed address.
    case addressNotAllowed(reason: String)
    /// A status, of HTTP or in the body, that says nothing about the account, such as 503.
    case status(Int)
    case tooLong
    /// A response that does not have the expected form. The reason completes a sentence about the response.
    case malformed(reason: String)

    /// A Boolean value that indicates whether the content of the request, such as its token, may be the cause.
    var mayBeOfQuestion: Bool {
        switch self {
        case .noResponse, .notAsked, .addressNotAllowed: false
        case .status, .tooLong, .malformed: true
        }
    }

    var description: String {
        switch self {
        case .noResponse(let reason): "no response: \(reason)"
        case .notAsked(let reason): "not asked: \(reason)"
        case .addressNotAllowed(let reason): "the address is not allowed: \(reason)"
        case .status(let status): "the server responded with status \(status)"
        case .tooLong: "the answer has more than \(PublisherResponse.maximumLength) bytes"
        case .malformed(let reason): "the answer cannot be used: \(reason)"
        }
    }
}

extension PublisherResponse {
    /// The maximum length of a response, in bytes. A longer one is ``PublisherFailure/tooLong``.
    static let maximumLength = XMLReader.maximumLength

    /// Parses a response.
    /// - Throws: ``PublisherFailure`` for a status that says nothing about the account, and for a body of another form.
    init(status: Int, body: [UInt8], form: EntitlementServerRecord.Form) throws(PublisherFailure) {
        switch status {
        case 200 where form == .json: self = .entitled(try Self.products(inJSON: body))
        case 200: self = try Self.answer(inXML: body)
        default: self = try Self.refusal(status: status)
        }
    }

    /// Returns the response for a status other than 200.
    ///
    /// The content of a request must not make the server count as down: that would harm other accounts, or entitle them
    /// to everything, depending on the app's setting.
    /// - Throws: ``PublisherFailure/status(_:)`` for a status about the server: 408, 425, 429, and all outside 400 to
    ///   499.
    private static func refusal(status: Int) throws(PublisherFailure) -> PublisherResponse {
        switch status {
        case 401, 403: .accountRefused
        case 408, 425, 429: throw .status(status)
        case 400...499: .questionRefused(status: status)
        default: throw .status(status)
        }
    }

    /// Parses `{"entitled":["…"]}`. Other members are ignored.
    private static func products(inJSON body: [UInt8]) throws(PublisherFailure) -> Set<String> {
        guard case .object(let members)? = try? JSONValue(parsing: Data(body)) else {
            throw .malformed(reason: "it is not a JSON object")
        }
        guard case .array(let values)? = members["entitled"] else {
            throw .malformed(reason: "it has no array 'entitled'")
        }
        var products: Set<String> = []
        for value in values {
            guard case .string(let product) = value, (1...IssueRecord.maximumProductID).contains(product.utf8.count)
            else {
                throw .malformed(reason: "'entitled' has an entry that is not a product id")
            }
            products.insert(product)
        }
        return products
    }
}

/// Parses responses of Adobe DPS's direct entitlement API:
///
/// ```xml
/// <result httpResponseCode="200"><entitlements><productId>com.example.issue7</productId></entitlements></result>
/// ```
extension PublisherResponse {
    /// Parses a document. Unknown elements are skipped.
    /// - Throws: ``PublisherFailure`` for a document of another form, or a status that says nothing about the account.
    private static func answer(inXML body: [UInt8]) throws(PublisherFailure) -> PublisherResponse {
        do {
            return try self.read(body)
        } catch let fault as XMLFault {
            throw .malformed(reason: fault.reason)
        } catch let failure as PublisherFailure {
            throw failure
        } catch {
            throw .malformed(reason: "\(error)")
        }
    }

    private static func read(_ body: [UInt8]) throws -> PublisherResponse {
        var reader = try XMLReader(body)
        guard case .start("result", let attributes)? = try reader.next() else {
            throw XMLFault(.notWellFormed, "its element is not 'result'")
        }
        var products: Set<String> = []
        var hasList = false
        var path: [String] = []
        var text = ""
        while let event = try reader.next() {
            switch event {
            case .start(let name, _):
                guard path.last != "productId" else { throw XMLFault(.notWellFormed, "a productId has elements") }
                if path.isEmpty, name == "entitlements" { hasList = true }
                path.append(name)
                text = ""
            case .text(let characters): text += characters
            case .end:
                if path == ["entitlements", "productId"] { products.insert(try self.product(text)) }
                _ = path.popLast()
            }
        }
        switch attributes["httpResponseCode"] ?? "200" {
        case "200": break
        case let code:
            guard let status = Int(code), (100...599).contains(status) else {
                throw XMLFault(.notWellFormed, "its httpResponseCode is not a status")
            }
            return try self.refusal(status: status)
        }
        guard hasList else { throw XMLFault(.notWellFormed, "it has no element 'entitlements'") }
        return .entitled(products)
    }

    private static func product(_ text: String) throws -> String {
        let product = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard (1...IssueRecord.maximumProductID).contains(product.utf8.count) else {
            throw XMLFault(.notWellFormed, "a productId has no text of 1 to \(IssueRecord.maximumProductID) bytes")
        }
        return product
    }
}

import Foundation
import PushStore
import PushSupport

/// The response of a publisher's server.
enum PublisherResponse: Hashable, Sendable {
    /// The product ids to which the account is entitled.
    case entitled(Set<String>)
    /// The server does not know the account, or its token has expired.
    case accountRefused
    /// The server refuses this question, with a status from 400 to 499: the account is entitled to nothing that was asked.
    case questionRefused(status: Int)
}

/// The failure of a question to a publisher's server.
enum PublisherFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// No response, or no connection.
    case noResponse(reason: String)
    /// Nothing was asked, for a reason of the provider's own. It says nothing about the server.
    case notAsked(reason: String)
    /// The policy does not allow the URL, or the addresses of its name.
    case addressNotAllowed(reason: String)
    /// A status that says nothing about the question, of HTTP or in the answer.
    case status(Int)
    case tooLong
    /// An answer in another form. The reason is the end of a sentence about it.
    case malformed(reason: String)

    /// Indicates whether what an app puts into a question can be the cause, such as a token on which the server fails.
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
    /// The longest answer, in bytes.
    static let maximumLength = XMLReader.maximumLength

    /// Reads a response.
    /// - Throws: ``PublisherFailure``.
    init(
        status: Int,
        body: [UInt8],
        form: EntitlementServerRecord.Form
    ) throws(PublisherFailure) {
        switch status {
        case 200 where form == .json: self = .entitled(try Self.products(inJSON: body))
        case 200: self = try Self.answer(inXML: body)
        default: self = try Self.refusal(status: status)
        }
    }

    /// Returns what a status other than 200 says about a question.
    ///
    /// What an app puts into a question must not make the server count as down: that is another's harm, and where the app
    /// entitles to everything then, a gift.
    /// - Throws: ``PublisherFailure/status(_:)`` for a status that is about the server: 408, 425, 429, and all but 400 to 499.
    static func refusal(status: Int) throws(PublisherFailure) -> PublisherResponse {
        switch status {
        case 401, 403: .accountRefused
        case 408, 425, 429: throw .status(status)
        case 400...499: .questionRefused(status: status)
        default: throw .status(status)
        }
    }

    /// Reads `{"entitled":["…"]}`. Other members are ignored.
    private static func products(inJSON body: [UInt8]) throws(PublisherFailure) -> Set<String> {
        guard case .object(let members)? = try? JSONValue(parsing: Data(body)) else {
            throw .malformed(reason: "it is not a JSON object")
        }
        guard case .array(let values)? = members["entitled"] else {
            throw .malformed(reason: "it has no array 'entitled'")
        }
        var products: Set<String> = []
        for value in values {
            guard case .string(let product) = value, (1...EntitlementProduct.maximumID).contains(product.utf8.count)
            else {
                throw .malformed(reason: "'entitled' has an entry that is not a product id")
            }
            products.insert(product)
        }
        return products
    }
}

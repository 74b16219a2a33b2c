import Foundation
import PushStore
import PushSupport

/// The answer of a publisher's server.
enum PublisherAnswer: Hashable, Sendable {
    /// The product ids to which the account is entitled.
    case entitled(Set<String>)
    /// The server does not know the account, or its token has expired.
    case accountRefused
}

/// The failure of a question to a publisher's server.
enum PublisherFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// No response, or no connection.
    case noResponse(reason: String)
    /// The policy does not allow the URL, or the addresses of its name.
    case addressNotAllowed(reason: String)
    /// A status other than 200, 401 and 403, of HTTP or in the answer.
    case status(Int)
    case tooLong
    /// An answer in another form. The reason is the end of a sentence about it.
    case malformed(reason: String)

    var description: String {
        switch self {
        case .noResponse(let reason): "no response: \(reason)"
        case .addressNotAllowed(let reason): "the address is not allowed: \(reason)"
        case .status(let status): "the server responded with status \(status)"
        case .tooLong: "the answer has more than \(PublisherAnswer.maximumLength) bytes"
        case .malformed(let reason): "the answer cannot be used: \(reason)"
        }
    }
}

extension PublisherAnswer {
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
        case 401, 403: self = .accountRefused
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
            guard case .string(let product) = value, (1...EntitlementProduct.maximumID).contains(product.utf8.count) else {
                throw .malformed(reason: "'entitled' has an entry that is not a product id")
            }
            products.insert(product)
        }
        return products
    }
}

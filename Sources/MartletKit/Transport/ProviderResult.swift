import Foundation

/// The result of a request to the provider.
enum ProviderResult: Equatable {
    /// The result of a request that was performed, with the members of the response.
    case done([String: JSONValue])
    /// The result of a request that the network, the provider or one of its limits prevented, and that may succeed
    /// later. `after` is the delay that the provider requested, or `nil` if it requested none.
    case later(after: Duration?, reason: String)
    /// The result of a request that was refused, and would be refused again.
    case refused(ProviderRefusal)

    /// The maximum delay that a response can request, in seconds. A longer one is treated as this value.
    static let maximumWait: Int64 = 24 * 3600

    init(_ result: Result<TransportResponse, any Error>) {
        switch result {
        case .failure(let error): self = .later(after: nil, reason: Self.text(of: error))
        case .success(let response): self.init(response)
        }
    }

    /// Returns the text of an error for the log. For a network error, it is the localized description, without
    /// `userInfo`.
    static func text(of error: any Error) -> String {
        guard let error = error as? URLError else { return "\(error)" }
        return error.userInfo[NSLocalizedDescriptionKey] as? String ?? "error \(error.errorCode) of the network"
    }

    private init(_ response: TransportResponse) {
        switch response.status {
        case 204: self = .done([:])
        case 200..<300:
            // The login page of a network is no response of the provider.
            guard case .object(let members)? = JSONValue(json: response.body) else {
                self = .later(after: nil, reason: "the response has no JSON object")
                return
            }
            self = .done(members)
        case 413:
            // A proxy before the provider may have sent it, in a form of its own.
            let message = ProviderRefusal(response)?.message ?? "the request is too large"
            self = .refused(ProviderRefusal(code: ProviderRefusal.tooLarge, message: message))
        case 408, 425, 429, 500...:
            let seconds = response.headers["retry-after"].flatMap { Int64($0) }.map {
                min(max(0, $0), Self.maximumWait)
            }
            self = .later(after: seconds.map { .seconds($0) }, reason: "status \(response.status)")
        default:
            // A proxy before the provider refuses it in a form of its own, perhaps only for now.
            self =
                ProviderRefusal(response).map { .refused($0) }
                ?? .later(after: nil, reason: "status \(response.status)")
        }
    }
}

/// The reason why the provider refuses a request.
struct ProviderRefusal: Equatable {
    let code: String
    let message: String
    /// The member of the request that caused the refusal, such as `tags[3]`, or `nil` if the response names none.
    let field: String?

    init(code: String, message: String, field: String? = nil) {
        (self.code, self.message, self.field) = (code, message, field)
    }

    /// Parses the error of a response. Returns `nil` if it has none.
    init?(_ response: TransportResponse) {
        guard let error = JSONValue(json: response.body)?.object?["error"]?.object, let code = error["code"]?.string
        else { return nil }
        self.init(code: code, message: error["message"]?.string ?? "", field: error["field"]?.string)
    }

    static let notOwnInstallation = "not_own_installation"
    /// The code that stands for the refusal of a request that is too large (status 413), in place of the response's
    /// code.
    static let tooLarge = "too_large"
}

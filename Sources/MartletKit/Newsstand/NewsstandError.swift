#if canImport(CryptoKit) || Encryption
import Foundation

/// An error of ``Newsstand``.
public enum NewsstandError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The network or the provider was in the way: it may work later, not before the time that the provider names.
    case unavailable(reason: String, retryAfter: Duration?)
    /// The provider refuses it, with a stable code such as `not_entitled` or `address_expired`.
    case refused(code: String, message: String)
    /// The response cannot be read.
    case malformed(String)
    /// The file has another SHA-256 than it should have. What was downloaded of it is removed.
    case wrongContent
    /// There is no space for the file.
    case noSpace
    /// The file cannot be read or written.
    case storage(String)

    public var description: String {
        switch self {
        case .unavailable(let reason, _): reason
        case .refused(let code, let message): message.isEmpty ? code : "\(message) (\(code))"
        case .malformed(let reason): reason
        case .wrongContent: "the file is not the one that the publisher uploaded"
        case .noSpace: "there is no space left for the file"
        case .storage(let reason): reason
        }
    }

    /// The error of a response; `nil` for one that is none.
    init?(_ response: TransportResponse) {
        guard !(200..<300).contains(response.status) else { return nil }
        switch ProviderResult(.success(response)) {
        case .refused(let refusal): self = .refused(code: refusal.code, message: refusal.message)
        case .later(let delay, let reason):
            let message = ProviderRefusal(response)?.message
            self = .unavailable(reason: message ?? reason, retryAfter: delay)
        case .done: return nil
        }
    }

    /// The error of a call of the file system.
    init(file error: any Error) {
        let cause = (error as NSError).userInfo[NSUnderlyingErrorKey]
        let code = (error as? POSIXError)?.code ?? (cause as? POSIXError)?.code
        let isFull = code == .ENOSPC || code == .EDQUOT || (error as? CocoaError)?.code == .fileWriteOutOfSpace
        self = isFull ? .noSpace : .storage("\(error)".forLog)
    }
}
#endif
